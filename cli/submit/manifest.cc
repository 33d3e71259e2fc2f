// SPDX-License-Identifier: Apache-2.0
#include "submit/manifest.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "api/v1alpha1/names.h"
#include "base/quantity.h"
#include "objects/job.h"

namespace gpupool::submit {
namespace {

using Json = nlohmann::ordered_json;

tl::unexpected<base::Error> wrong(std::string message) {
  return base::fail(base::ErrorCode::kInvalidArgument, std::move(message));
}

struct Pair {
  std::string left;
  std::string right;
};

// "A=B" at the first separator; nothing without one, or with nothing before it.
std::optional<Pair> split_at(const std::string& text, char separator) {
  const auto at = text.find(separator);
  if (at == std::string::npos || at == 0) return std::nullopt;
  return Pair{text.substr(0, at), text.substr(at + 1)};
}

base::Result<void> add_labels(const Wanted& wanted, Json& metadata) {
  for (const std::string& label : wanted.labels) {
    const auto pair = split_at(label, '=');
    if (!pair) return wrong("--label: \"" + label + "\" is not KEY=VALUE");
    metadata["labels"][pair->left] = pair->right;
  }
  return {};
}

base::Result<void> add_sizes(const Wanted& wanted, Json& spec) {
  if (wanted.gpus) spec["gpus"] = *wanted.gpus;
  if (wanted.gpus_per_worker) spec["gpusPerWorker"] = *wanted.gpus_per_worker;
  const auto gpus = spec.value("gpus", Json(1));
  const auto each = spec.value("gpusPerWorker", Json(1));
  if (gpus.is_number_integer() && each.is_number_integer() && each.get<std::int64_t>() > 0 &&
      gpus.get<std::int64_t>() > each.get<std::int64_t>() &&
      gpus.get<std::int64_t>() % each.get<std::int64_t>() != 0) {
    return wrong("--gpus " + gpus.dump() + " is no multiple of --gpus-per-worker " + each.dump());
  }
  if (wanted.priority) spec["priority"] = *wanted.priority;
  if (wanted.backoff_limit) spec["backoffLimit"] = *wanted.backoff_limit;
  if (wanted.deadline_seconds) spec["activeDeadlineSeconds"] = *wanted.deadline_seconds;
  return {};
}

base::Result<void> add_slice(const Wanted& wanted, Json& spec) {
  if (!wanted.slice_memory.empty() && !base::parse_quantity(wanted.slice_memory)) {
    return wrong("--slice-memory: \"" + wanted.slice_memory + "\" is no quantity such as 4Gi");
  }
  if (wanted.slices && (!wanted.slice_memory.empty() || wanted.slice_cores)) {
    return wrong("--slices cannot be given together with --slice-memory or --slice-cores");
  }
  if (wanted.slices) spec["slice"]["count"] = *wanted.slices;
  if (!wanted.slice_memory.empty()) spec["slice"]["memory"] = wanted.slice_memory;
  if (wanted.slice_cores) spec["slice"]["cores"] = *wanted.slice_cores;
  if (spec.contains("slice") && wanted.gpus_per_worker.value_or(1) != 1) {
    return wrong("a worker with slices has part of one GPU: --gpus-per-worker must be 1");
  }
  return {};
}

base::Result<void> add_resources(const Wanted& wanted, Json& container) {
  for (const auto& [flag, name, value] :
       {std::tuple("--cpu", "cpu", &wanted.cpu), {"--memory", "memory", &wanted.memory}}) {
    if (value->empty()) continue;
    if (!base::parse_milli_quantity(*value)) {
      return wrong(std::string(flag) + ": \"" + *value + "\" is no quantity such as 4 or 16Gi");
    }
    container["resources"]["requests"][name] = *value;
  }
  // Memory above what was asked for is taken from others; /dev/shm has the size of this limit.
  if (!wanted.memory.empty()) container["resources"]["limits"]["memory"] = wanted.memory;
  return {};
}

base::Result<void> add_environment(const Wanted& wanted, Json& container) {
  for (const std::string& variable : wanted.env) {
    const auto pair = split_at(variable, '=');
    if (!pair) return wrong("--env: \"" + variable + "\" is not NAME=VALUE");
    container["env"].push_back({{"name", pair->left}, {"value", pair->right}});
  }
  return {};
}

base::Result<void> add_claims(const Wanted& wanted, Json& container, Json& volumes) {
  for (const std::string& claim : wanted.claims) {
    const auto pair = split_at(claim, ':');
    if (!pair || !pair->right.starts_with('/'))
      return wrong("--claim: \"" + claim + "\" is not CLAIM:/DIRECTORY");
    const std::string volume = "claim-" + std::to_string(volumes.size());
    volumes.push_back({{"name", volume}, {"persistentVolumeClaim", {{"claimName", pair->left}}}});
    container["volumeMounts"].push_back({{"name", volume}, {"mountPath", pair->right}});
  }
  return {};
}

void add_script(const objects::Script& script, Json& container, Json& volumes) {
  static constexpr int kReadAndExecute = 0555;
  volumes.push_back({{"name", objects::kScriptVolume},
                     {"configMap", {{"name", script.config_map}, {"defaultMode", kReadAndExecute}}}});
  container["volumeMounts"].push_back(
      {{"name", objects::kScriptVolume}, {"mountPath", objects::kScriptDirectory}, {"readOnly", true}});
}

base::Result<Json> pod_spec(const Wanted& wanted, const std::optional<objects::Script>& script) {
  if (wanted.image.empty()) return wrong("--image is missing: the container image that the command runs in");
  if (wanted.command.empty()) {
    return wrong(
        "nothing to run: give a script, or a command after -- (images' own entrypoints are not used)");
  }
  Json container{{"name", "worker"}, {"image", wanted.image}, {"command", wanted.command}};
  Json volumes = Json::array();
  for (auto add : {add_environment, add_resources}) {
    if (auto added = add(wanted, container); !added) return tl::unexpected<base::Error>(added.error());
  }
  if (auto added = add_claims(wanted, container, volumes); !added)
    return tl::unexpected<base::Error>(added.error());
  if (script) add_script(*script, container, volumes);
  Json pod{{"containers", Json::array({std::move(container)})}};
  if (!volumes.empty()) pod["volumes"] = std::move(volumes);
  return pod;
}

}  // namespace

base::Result<std::string> manifest_of(const Wanted& wanted, const std::optional<objects::Script>& script) {
  if (const auto good = objects::job_name(wanted.name); !good)
    return tl::unexpected<base::Error>(good.error());
  if (wanted.pool.empty()) return wrong("--pool is missing: the GpuPool to run in");
  Json metadata{{"name", wanted.name}, {"namespace", wanted.ns}};
  Json spec{{"pool", wanted.pool}, {"gpus", 1}};
  base::Result<void> added = add_labels(wanted, metadata);
  if (added) added = add_sizes(wanted, spec);
  if (added) added = add_slice(wanted, spec);
  if (!added) return tl::unexpected<base::Error>(added.error());
  auto pod = pod_spec(wanted, script);
  if (!pod) return tl::unexpected<base::Error>(pod.error());
  if (!wanted.data.source.empty()) spec["source"] = Json::parse(source_json(wanted.data.source));
  if (!wanted.data.results.empty()) spec["results"] = Json::parse(results_json(wanted.data.results));
  spec["template"] = {{"spec", std::move(*pod)}};
  return Json{{"apiVersion", api::kApiVersion}, {"kind", "GpuJob"}, {"metadata", metadata}, {"spec", spec}}
      .dump();
}

base::Result<std::string> changed_manifest(const std::string& manifest, const Wanted& wanted) {
  const bool about_pod = !wanted.image.empty() || !wanted.cpu.empty() || !wanted.memory.empty() ||
                         !wanted.env.empty() || !wanted.claims.empty() || !wanted.command.empty() ||
                         wanted.slices || !wanted.slice_memory.empty() || wanted.slice_cores ||
                         !wanted.data.empty();
  if (about_pod)
    return wrong(
        "with -f the file says what runs: no command, script, or flags about the pod, its slices, sources or "
        "results");
  Json job = Json::parse(manifest);
  Json& metadata = job["metadata"];
  if (!wanted.name.empty()) metadata["name"] = wanted.name;
  if (!metadata.value("name", Json("")).is_string()) return wrong("metadata.name is no text");
  if (const auto good = objects::job_name(metadata.value("name", "")); !good) {
    return tl::unexpected<base::Error>(good.error());
  }
  if (!metadata.contains("namespace")) metadata["namespace"] = wanted.ns;
  if (metadata["namespace"] != wanted.ns) {
    return wrong("the file is for namespace " + metadata["namespace"].dump() + ", and this is " + wanted.ns +
                 ": give the same one with -n");
  }
  if (!wanted.pool.empty()) job["spec"]["pool"] = wanted.pool;
  base::Result<void> added = add_labels(wanted, metadata);
  if (added) added = add_sizes(wanted, job["spec"]);
  if (!added) return tl::unexpected<base::Error>(added.error());
  return job.dump();
}

}  // namespace gpupool::submit
