// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/word.h"

namespace gpupool::api {

// metav1.Condition.
struct Condition {
  base::Word type;
  base::Word status;  // "True" or "False"
  std::int64_t observed_generation = 0;
  std::optional<base::WallTime> last_transition_time;
  base::Word reason;
  base::Word message;  // usually empty
  bool operator==(const Condition&) const = default;
};

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type);
bool is_true(const std::vector<Condition>& conditions, std::string_view type);
// Adds or updates a condition. Sets last_transition_time to `now` only if the status changes.
void set_condition(std::vector<Condition>& conditions, Condition condition, base::WallTime now);

}  // namespace gpupool::api

template <>
struct gpupool::base::json::Schema<gpupool::api::Condition> {
  using T = api::Condition;
  static constexpr std::size_t kUsualCount = 7;
  static constexpr auto fields = std::array{field<&T::type>("type"),
                                            field<&T::status>("status"),
                                            field<&T::observed_generation>("observedGeneration"),
                                            field<&T::last_transition_time>("lastTransitionTime"),
                                            field<&T::reason>("reason"),
                                            field<&T::message>("message")};
};
