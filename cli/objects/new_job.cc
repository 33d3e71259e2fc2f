// SPDX-License-Identifier: Apache-2.0
#include "objects/new_job.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "api/v1alpha1/names.h"

namespace gpupool::objects {
namespace {

using Json = nlohmann::ordered_json;

constexpr api::ResourceType kConfigMap{"", "v1", "configmaps", "ConfigMap", true};

Json owner_reference(const api::GpuJob& job) {
  return {{"apiVersion", api::kApiVersion},
          {"kind", "GpuJob"},
          {"name", job.metadata.name},
          {"uid", job.metadata.uid}};
}

base::Result<void> create_script(command::Session& session, const Script& script, const api::GpuJob& job,
                                 const std::stop_token& stop) {
  const auto made = session.client().create(kConfigMap, job.metadata.ns,
                                            config_map_of(script, job.metadata.ns, &job), stop);
  if (!made) return tl::unexpected<base::Error>(made.error());
  return {};
}

// Adds the job to the owners: the ConfigMap goes with the last of them.
base::Result<void> share_script(command::Session& session, const Script& script, const api::GpuJob& job,
                                const std::stop_token& stop) {
  const api::ObjectKey key{job.metadata.ns, script.config_map};
  const auto text = session.client().get(kConfigMap, key, stop);
  if (!text) return tl::unexpected<base::Error>(text.error());
  const Json seen = Json::parse(*text);
  Json owners = seen["metadata"].value("ownerReferences", Json::array());
  owners.push_back(owner_reference(job));
  const Json patch{
      {"metadata", {{"resourceVersion", seen["metadata"]["resourceVersion"]}, {"ownerReferences", owners}}}};
  const auto patched =
      session.client().patch(kConfigMap, key, kube::PatchType::kMerge, patch.dump(), "", stop);
  if (!patched) return tl::unexpected<base::Error>(patched.error());
  return {};
}

}  // namespace

std::optional<Script> script_of(std::string_view job) {
  const auto seen = Json::parse(job);
  static const Json::json_pointer kVolumes("/spec/template/spec/volumes");
  if (!seen.contains(kVolumes) || !seen[kVolumes].is_array()) return std::nullopt;
  for (const Json& volume : seen[kVolumes]) {
    if (volume.is_object() && volume.value("name", "") == kScriptVolume && volume.contains("configMap")) {
      return Script{.config_map = volume["configMap"].value("name", ""), .file = std::nullopt};
    }
  }
  return std::nullopt;
}

std::string config_map_of(const Script& script, const std::string& ns, const api::GpuJob* owner) {
  Json metadata{{"name", script.config_map}, {"namespace", ns}};
  if (owner != nullptr) metadata["ownerReferences"] = Json::array({owner_reference(*owner)});
  return Json{{"apiVersion", "v1"},
              {"kind", "ConfigMap"},
              {"metadata", std::move(metadata)},
              {"immutable", true},
              {"data", {{script.file.value_or(""), script.content}}}}
      .dump();
}

base::Result<api::GpuJob> create_job(command::Session& session, const std::string& manifest,
                                     const std::optional<Script>& script, const std::stop_token& stop) {
  Json body = Json::parse(manifest);
  const std::string ns = body["metadata"]["namespace"].get<std::string>();
  const bool stays_suspended = body["spec"].value("suspend", false);
  if (script) body["spec"]["suspend"] = true;
  auto job = kube::decode<api::GpuJob>(session.client().create(api::GpuJob::kType, ns, body.dump(), stop));
  if (!job || !script) return job;
  const auto with_script =
      script->file ? create_script(session, *script, *job, stop) : share_script(session, *script, *job, stop);
  if (with_script && stays_suspended) return job;
  base::Result<api::GpuJob> resumed =
      tl::unexpected<base::Error>(with_script ? base::Error{} : with_script.error());
  if (with_script) {
    resumed = kube::decode<api::GpuJob>(session.client().patch(api::GpuJob::kType, job->metadata.key(),
                                                               kube::PatchType::kMerge,
                                                               R"({"spec":{"suspend":false}})", "", stop));
  }
  if (resumed) return resumed;
  // Also after Ctrl-C: nobody would resume it.
  (void)session.client().remove(api::GpuJob::kType, job->metadata.key(), {.uid = job->metadata.uid}, {});
  return resumed;
}

}  // namespace gpupool::objects
