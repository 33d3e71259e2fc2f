// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/data_containers.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "api/v1alpha1/job_data.h"
#include "api/v1alpha1/lease_value.h"
#include "planning/nodes/node_needs.h"
#include "planning/workers/grace_period.h"
#include "planning/workers/manifests.h"
#include "planning/workers/own_containers.h"

namespace gpupool::planning {
namespace {

using Json = nlohmann::json;

using Names = std::set<std::string>;

constexpr char kSecretVolumes[] = "gpupool-secret-";
constexpr char kConfigMapVolumes[] = "gpupool-config-map-";
constexpr char kClaimVolumes[] = "gpupool-claim-";

// Objects of one kind that containers of gpupool-carry mount, each as one volume of the pod.
class Mounted {
 public:
  // directory: of gpupool-carry (carry/reporting/places.h). source: what a volume says of the object `name`.
  Mounted(const char* volume_prefix, const char* directory, Json (*source)(const std::string& name))
      : volume_prefix_(volume_prefix), directory_(directory), source_(source) {}

  void mount(const Names& names, bool read_only, Json& pod_spec, Json& container) {
    for (const auto& name : names) {
      Json mount = {{"name", volume_of(name, pod_spec)}, {"mountPath", directory_ + name}};
      if (read_only) mount["readOnly"] = true;
      container["volumeMounts"].push_back(std::move(mount));
    }
  }

 private:
  std::string volume_of(const std::string& name, Json& pod_spec) {
    if (const auto known = volumes_.find(name); known != volumes_.end()) return known->second;
    auto volume = source_(name);
    if (volume.contains("persistentVolumeClaim")) {
      if (auto same = volume_of_claim(pod_spec, name); !same.empty()) return volumes_[name] = std::move(same);
    }
    auto& all = array_at(pod_spec, "volumes");
    volume["name"] = volume_prefix_ + std::to_string(volumes_.size());
    all.push_back(volume);
    return volumes_[name] = volume["name"];
  }

  const std::string volume_prefix_;
  const std::string directory_;
  Json (*source_)(const std::string& name);
  std::map<std::string, std::string> volumes_ = {};  // by name of the object
};

struct AllMounted {
  Mounted secrets = {kSecretVolumes, "/secrets/",
                     [](const std::string& name) { return Json{{"secret", {{"secretName", name}}}}; }};
  Mounted config_maps = {kConfigMapVolumes, "/config-maps/",
                         [](const std::string& name) { return Json{{"configMap", {{"name", name}}}}; }};
  Mounted claims = {kClaimVolumes, "/claims/", [](const std::string& name) {
                      return Json{{"persistentVolumeClaim", {{"claimName", name}}}};
                    }};
};

// Programs behind a proxy are told so by these variables of the worker.
Json proxy_variables(const Json& worker) {
  constexpr std::array<std::string_view, 6> kNames = {"http_proxy", "https_proxy", "no_proxy",
                                                      "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"};
  auto kept = Json::array();
  const auto all = worker.find("env");
  if (all == worker.end() || !all->is_array()) return kept;
  for (const auto& variable : *all) {
    const auto name = variable.find("name");
    if (name == variable.end() || !name->is_string()) continue;
    const bool known = std::ranges::find(kNames, name->get_ref<const std::string&>()) != kNames.end();
    if (known && variable.contains("value")) kept.push_back(variable);
  }
  return kept;
}

Json carry_container(const char* name, const std::string& image, const Json& pod_spec, Json command) {
  return {{"name", name},
          {"image", image},
          {"imagePullPolicy", "IfNotPresent"},
          {"command", std::move(command)},
          {"env", proxy_variables(pod_spec["containers"][0])},
          {"securityContext", own_security(pod_spec)},
          {"terminationMessagePath", "/dev/termination-log"},
          {"terminationMessagePolicy", "File"},
          {"volumeMounts", Json::array({{{"name", kLauncherName}, {"mountPath", kLauncherDirectory}}})}};
}

Json work_mount(bool read_only) {
  Json mount = {{"name", kWorkVolume}, {"mountPath", api::kWorkDirectory}};
  if (read_only) mount["readOnly"] = true;
  return mount;
}

Json source_container(const api::GpuJob& job, const api::JobSource& source, const std::string& image,
                      std::int64_t report_bytes, AllMounted& mounted, Json& pod_spec) {
  auto container = carry_container(
      kSourceContainer, image, pod_spec,
      {"/gpupool-carry", "fetch", "--attempt=" + std::to_string(job.status.lease->attempt),
       "--report-bytes=" + std::to_string(report_bytes), "--source=" + unexpanded(job.spec.source->text)});
  container["resources"] = own_resources(pod_spec["containers"][0]);
  container["volumeMounts"].push_back(work_mount(false));
  Names secrets;
  Names config_maps;
  for (const auto& item : source.items) {
    if (!item.secret.empty()) secrets.insert(item.secret);
    if (item.config_map) config_maps.insert(item.config_map->name);
  }
  mounted.secrets.mount(secrets, true, pod_spec, container);
  mounted.config_maps.mount(config_maps, true, pod_spec, container);
  return container;
}

std::int64_t grace_of(const Json& pod_spec) {
  const auto grace = pod_spec.find("terminationGracePeriodSeconds");
  return grace != pod_spec.end() && grace->is_number_integer() ? grace->get<std::int64_t>()
                                                               : kDefaultGraceSeconds;
}

Json results_container(const api::GpuJob& job, const std::vector<api::JobResult>& results,
                       const std::string& image, std::int64_t report_bytes, AllMounted& mounted,
                       Json& pod_spec) {
  auto command =
      Json::array({"/gpupool-carry", "push", "--job=" + job.metadata.name, "--namespace=" + job.metadata.ns,
                   "--attempt=" + std::to_string(job.status.lease->attempt),
                   "--report-bytes=" + std::to_string(report_bytes),
                   "--grace-seconds=" + std::to_string(grace_of(pod_spec))});
  if (is_gang(job.spec)) {
    command.push_back(std::string("--pod-name=$(") + kPodNameVariable + ")");
    command.push_back("--hold");
  } else {
    command.push_back("--rank=0");
  }
  command.push_back("--results=" + unexpanded(job.spec.results->text));
  auto container = carry_container(kResultsContainer, image, pod_spec, std::move(command));
  if (is_gang(job.spec)) container["env"].push_back(pod_name_variable());
  container["resources"] = {{"requests",
                             {{"cpu", std::to_string(kResultsMilliCpu) + "m"},
                              {"memory", std::to_string(kResultsMebibytes) + "Mi"}}},
                            {"limits", {{"cpu", "1"}, {"memory", "128Mi"}}}};
  container["volumeMounts"].push_back(work_mount(true));
  Names secrets;
  Names claims;
  for (const auto& result : results) {
    if (!result.secret.empty()) secrets.insert(result.secret);
    if (result.to.volume) claims.insert(result.to.volume->claim_name);
  }
  mounted.secrets.mount(secrets, true, pod_spec, container);
  mounted.claims.mount(claims, false, pod_spec, container);
  return container;
}

void give_to_worker(Json& worker, const api::JobSource& source) {
  array_at(worker, "env").push_back({{"name", "GPUPOOL_WORK_DIR"}, {"value", api::kWorkDirectory}});
  auto& mounts = array_at(worker, "volumeMounts");
  mounts.push_back(work_mount(false));
  for (const auto& item : source.items) {
    if (!item.read_only && !item.csv) continue;
    mounts.push_back({{"name", kWorkVolume},
                      {"mountPath", std::string(api::kWorkDirectory) + "/" + item.path},
                      {"subPath", item.path},
                      {"readOnly", true}});
  }
}

}  // namespace

bool is_data_volume(std::string_view name) {
  return name == kWorkVolume || name.starts_with(kSecretVolumes) || name.starts_with(kConfigMapVolumes) ||
         name.starts_with(kClaimVolumes);
}

std::int64_t count_data_containers(const api::GpuJobSpec& spec) {
  return (spec.source ? 1 : 0) + (spec.results ? 1 : 0);
}

void add_data_containers(Json& pod_spec, const api::GpuJob& job, const std::string& carry_image,
                         std::int64_t report_bytes) {
  if (count_data_containers(job.spec) == 0) return;
  array_at(pod_spec, "volumes").push_back({{"name", kWorkVolume}, {"emptyDir", Json::object()}});
  AllMounted mounted;
  api::JobSource source;
  if (job.spec.source) {
    if (auto parsed = base::json::read<api::JobSource>(job.spec.source->text)) source = *std::move(parsed);
    auto container = source_container(job, source, carry_image, report_bytes, mounted, pod_spec);
    auto& init = array_at(pod_spec, "initContainers");
    init.insert(init.begin(), std::move(container));
  }
  give_to_worker(pod_spec["containers"][0], source);
  if (!job.spec.results) return;
  auto results = base::json::read<std::vector<api::JobResult>>(job.spec.results->text);
  if (!results) return;
  auto container = results_container(job, *results, carry_image, report_bytes, mounted, pod_spec);
  pod_spec["containers"].push_back(std::move(container));
}

}  // namespace gpupool::planning
