// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/own_containers.h"

#include <nlohmann/json.hpp>

namespace gpupool::planning {

using Json = nlohmann::json;

Json& array_at(Json& object, const char* key) {
  auto& value = object[key];
  if (!value.is_array()) value = Json::array();
  return value;
}

Json pod_name_variable() {
  return {{"name", kPodNameVariable}, {"valueFrom", {{"fieldRef", {{"fieldPath", "metadata.name"}}}}}};
}

std::string unexpanded(std::string text) {
  for (auto at = text.find('$'); at != std::string::npos; at = text.find('$', at + 2))
    text.insert(at, 1, '$');
  return text;
}

std::string volume_of_claim(const Json& pod_spec, const std::string& claim) {
  const auto volumes = pod_spec.find("volumes");
  if (volumes == pod_spec.end() || !volumes->is_array()) return {};
  for (const auto& volume : *volumes) {
    const auto source = volume.find("persistentVolumeClaim");
    if (source != volume.end() && source->is_object() && source->value("claimName", Json()) == claim)
      return volume.value("name", std::string());
  }
  return {};
}

Json own_resources(const Json& worker) {
  Json own = Json::object();
  const auto all = worker.find("resources");
  if (all == worker.end() || !all->is_object()) return own;
  for (const char* kind : {"requests", "limits"}) {
    const auto amounts = all->find(kind);
    if (amounts == all->end() || !amounts->is_object()) continue;
    for (const char* name : {"cpu", "memory", "ephemeral-storage"}) {
      if (amounts->contains(name)) own[kind][name] = (*amounts)[name];
    }
  }
  return own;
}

Json own_security(const Json& pod_spec) {
  Json own = {{"allowPrivilegeEscalation", false},
              {"capabilities", {{"drop", {"ALL"}}}},
              {"readOnlyRootFilesystem", true},
              {"runAsNonRoot", true},
              {"seccompProfile", {{"type", "RuntimeDefault"}}}};
  // The image sets a user, but the pod's securityContext has precedence and may set root.
  const auto pod = pod_spec.find("securityContext");
  const bool as_root = pod != pod_spec.end() && pod->is_object() && pod->value("runAsUser", Json()) == 0;
  if (as_root) own["runAsUser"] = kOwnUser;
  return own;
}

}  // namespace gpupool::planning
