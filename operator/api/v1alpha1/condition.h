#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace gpupool::api {

// metav1.Condition.
struct Condition {
  std::string type;
  std::string status;  // "True" or "False"
  std::int64_t observed_generation = 0;
  std::optional<base::WallTime> last_transition_time;
  std::string reason;
  std::string message;
  bool operator==(const Condition&) const = default;
};

const Condition* find_condition(const std::vector<Condition>& conditions, const std::string& type);
bool is_true(const std::vector<Condition>& conditions, const std::string& type);
// Adds or updates; last_transition_time moves to `now` only when the status changes.
void set_condition(std::vector<Condition>& conditions, Condition condition, base::WallTime now);

}  // namespace gpupool::api

template <>
struct gpupool::base::json::Schema<gpupool::api::Condition> {
  using T = api::Condition;
  static constexpr auto fields = std::array{field<&T::type>("type"),
                                            field<&T::status>("status"),
                                            field<&T::observed_generation>("observedGeneration"),
                                            field<&T::last_transition_time>("lastTransitionTime"),
                                            field<&T::reason>("reason"),
                                            field<&T::message>("message")};
};
