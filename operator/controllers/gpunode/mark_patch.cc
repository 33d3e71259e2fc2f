// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpunode/mark_patch.h"

#include "api/v1alpha1/names.h"
#include "base/json.h"
#include "controllers/cluster/taint_patch.h"
#include "kube/patch.h"

namespace gpupool::controllers {
namespace {

using base::json::quote;
using kube::json_pointer;

}  // namespace

std::string mark_patch(const api::Node& node, const planning::NodeMarks& wanted) {
  const auto now = planning::marks_of(node);
  if (now == wanted) return {};
  kube::JsonPatch patch;
  patch.only_if_version(node.metadata.resource_version);
  patch_taint(patch, node.spec.taints, api::kPoolTaint, wanted.pool_taint);
  if (node.metadata.labels.empty()) patch.add("/metadata/labels", "{}");
  const auto label = [&](const char* key, const std::optional<std::string>& is,
                         const std::optional<std::string>& wants) {
    if (is == wants) return;
    const auto pointer = json_pointer({"metadata", "labels", key});
    if (wants) {
      patch.add(pointer, quote(*wants));
    } else {
      patch.remove(pointer);
    }
  };
  label(api::kMemberLabel, now.member_label, wanted.member_label);
  label(api::kGpuModelLabel, now.model_label, wanted.model_label);
  label(api::kGpuMemoryLabel, now.memory_label, wanted.memory_label);
  return patch.text();
}

}  // namespace gpupool::controllers
