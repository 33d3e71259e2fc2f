// SPDX-License-Identifier: Apache-2.0
#include "planning/nodes/lease_marks.h"

#include <algorithm>

#include "api/v1alpha1/names.h"

namespace gpupool::planning {

std::string lease_taint(const api::Node& node) {
  for (const auto& taint : node.spec.taints) {
    if (taint.key == api::kLease && taint.effect == api::kNoSchedule) return taint.value;
  }
  return {};
}

bool has_stray_lease_taint(const api::Node& node) {
  return std::any_of(node.spec.taints.begin(), node.spec.taints.end(), [](const api::Taint& taint) {
    return taint.key == api::kLease && taint.effect != api::kNoSchedule;
  });
}

bool carries_lease(const api::Node& node, const std::string& id) {
  return lease_taint(node) == id && node.metadata.label(api::kNodeLeaseLabel) == id &&
         node.metadata.annotations.contains(api::kLease) && !has_stray_lease_taint(node);
}

std::vector<std::string> lease_values(const api::Node& node) {
  std::vector<std::string> values;
  const auto label = node.metadata.label(api::kNodeLeaseLabel);
  if (!label.empty()) values.push_back(label);
  if (const auto taint = lease_taint(node); !taint.empty() && taint != label) values.push_back(taint);
  return values;
}

bool has_lease_marks(const api::Node& node) {
  return !lease_values(node).empty() || node.metadata.annotations.contains(api::kLease) ||
         has_stray_lease_taint(node);
}

}  // namespace gpupool::planning
