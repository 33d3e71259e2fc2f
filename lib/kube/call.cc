// SPDX-License-Identifier: Apache-2.0
#include "kube/call.h"

namespace gpupool::kube {

std::string Call::describe() const {
  std::string text(verb);
  if (type == nullptr) return text + " " + path;
  text += " " + std::string(type->kind);
  if (!subresource.empty()) text += "/" + subresource;
  if (!name.empty()) return text + " " + api::ObjectKey{ns, name}.to_string();
  if (!type->namespaced) return text;
  return text + (ns.empty() ? " in all namespaces" : " in namespace " + ns);
}

std::string Call::rbac_rule() const {
  const std::string verbs = ", verbs: [\"" + std::string(verb) + "\"]}";
  if (type == nullptr) return "{nonResourceURLs: [\"" + path + "\"]" + verbs + " in a ClusterRole";
  std::string resource(type->plural);
  if (!subresource.empty()) resource += "/" + subresource;
  const std::string rule =
      "{apiGroups: [\"" + std::string(type->group) + "\"], resources: [\"" + resource + "\"]" + verbs;
  return rule + (ns.empty() ? " in a ClusterRole" : " in a Role of namespace " + ns + " or a ClusterRole");
}

}  // namespace gpupool::kube
