// SPDX-License-Identifier: Apache-2.0
#include "planning/nodes/tolerations.h"

#include <algorithm>

namespace gpupool::planning {
namespace {

bool matches(const api::TemplateToleration& toleration, const api::Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (toleration.key != taint.key) return toleration.key.empty() && toleration.op == "Exists";
  return toleration.op == "Exists" || toleration.value == taint.value;
}

}  // namespace

bool tolerates(const Tolerations& tolerations, const std::vector<api::Taint>& taints) {
  return std::all_of(taints.begin(), taints.end(), [&](const api::Taint& taint) {
    return std::any_of(tolerations.begin(), tolerations.end(),
                       [&](const api::TemplateToleration& toleration) { return matches(toleration, taint); });
  });
}

}  // namespace gpupool::planning
