// SPDX-License-Identifier: Apache-2.0
#include "controllers/cluster/finalizer_patch.h"

#include <algorithm>

#include "kube/patch.h"

namespace gpupool::controllers {

std::string finalizer_patch(const api::ObjectMeta& metadata, const std::string& finalizer, bool wanted) {
  const auto& finalizers = metadata.finalizers;
  const auto found = std::find(finalizers.begin(), finalizers.end(), finalizer);
  if ((found != finalizers.end()) == wanted) return {};
  kube::JsonPatch patch;
  patch.only_if_version(metadata.resource_version);
  if (!wanted) {
    patch.remove(kube::json_pointer({"metadata", "finalizers", std::to_string(found - finalizers.begin())}));
  } else if (finalizers.empty()) {
    patch.add("/metadata/finalizers", "[" + base::json::quote(finalizer) + "]");
  } else {
    patch.add("/metadata/finalizers/-", base::json::quote(finalizer));
  }
  return patch.text();
}

}  // namespace gpupool::controllers
