// SPDX-License-Identifier: Apache-2.0
#include "api/v1alpha1/condition.h"

#include <algorithm>
#include <utility>

namespace gpupool::api {

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type) {
  const auto found = std::find_if(conditions.begin(), conditions.end(),
                                  [&](const Condition& condition) { return condition.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

bool is_true(const std::vector<Condition>& conditions, std::string_view type) {
  const auto* condition = find_condition(conditions, type);
  return condition != nullptr && condition->status == "True";
}

void set_condition(std::vector<Condition>& conditions, Condition condition, base::WallTime now) {
  const auto* before = find_condition(conditions, condition.type);
  const bool same_status = before != nullptr && before->status == condition.status;
  condition.last_transition_time = same_status ? before->last_transition_time : now;
  if (before == nullptr) {
    conditions.push_back(std::move(condition));
    return;
  }
  conditions[static_cast<std::size_t>(before - conditions.data())] = std::move(condition);
}

}  // namespace gpupool::api
