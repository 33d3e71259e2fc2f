// SPDX-License-Identifier: Apache-2.0
#include "controllers/cluster/taint_patch.h"

#include <cstddef>

#include "api/v1alpha1/names.h"
#include "base/json.h"

namespace gpupool::controllers {

using base::json::quote;
using kube::json_pointer;

void patch_taint(kube::JsonPatch& patch, const std::vector<api::Taint>& taints, const std::string& key,
                 const std::optional<std::string>& wanted) {
  bool kept = false;
  for (std::size_t i = taints.size(); i-- > 0;) {  // from the end, so that lower indexes stay valid
    const auto& taint = taints[i];
    if (taint.key != key) continue;
    const auto at = std::to_string(i);
    if (!wanted || taint.effect != api::kNoSchedule) {
      patch.remove(json_pointer({"spec", "taints", at}));
      continue;
    }
    kept = true;
    if (taint.value != *wanted) patch.replace(json_pointer({"spec", "taints", at, "value"}), quote(*wanted));
  }
  if (!wanted || kept) return;
  const auto taint = "{\"key\":" + quote(key) + ",\"value\":" + quote(*wanted) +
                     ",\"effect\":" + quote(api::kNoSchedule) + "}";
  if (taints.empty()) {
    patch.add("/spec/taints", "[" + taint + "]");
  } else {
    patch.add("/spec/taints/-", taint);
  }
}

}  // namespace gpupool::controllers
