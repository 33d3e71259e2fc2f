#include "controllers/cluster/taint_patch.h"

#include <algorithm>

#include "api/v1alpha1/names.h"
#include "base/json.h"

namespace gpupool::controllers {

using base::json::quote;
using kube::json_pointer;

void patch_taint(kube::JsonPatch& patch, const std::vector<api::Taint>& taints, const std::string& key,
                 const std::optional<std::string>& wanted) {
  const auto found = std::find_if(taints.begin(), taints.end(), [&](const api::Taint& taint) {
    return taint.key == key && taint.effect == api::kNoSchedule;
  });
  const auto at = std::to_string(found - taints.begin());
  if (found != taints.end()) {
    if (!wanted) {
      patch.remove(json_pointer({"spec", "taints", at}));
    } else if (found->value != *wanted) {
      patch.replace(json_pointer({"spec", "taints", at, "value"}), quote(*wanted));
    }
    return;
  }
  if (!wanted) return;
  const auto taint = "{\"key\":" + quote(key) + ",\"value\":" + quote(*wanted) +
                     ",\"effect\":" + quote(api::kNoSchedule) + "}";
  if (taints.empty()) {
    patch.add("/spec/taints", "[" + taint + "]");
  } else {
    patch.add("/spec/taints/-", taint);
  }
}

}  // namespace gpupool::controllers
