// SPDX-License-Identifier: Apache-2.0
#include "api/v1alpha1/condition.h"

#include <gtest/gtest.h>

namespace gpupool::api {
namespace {

base::WallTime second(int seconds) { return base::WallTime(std::chrono::seconds(seconds)); }

Condition make(const std::string& type, const std::string& status, const std::string& reason = "R") {
  Condition condition;
  condition.type = type;
  condition.status = status;
  condition.reason = reason;
  return condition;
}

TEST(SetCondition, MovesTheTransitionTimeOnlyWithTheStatus) {
  std::vector<Condition> conditions;
  set_condition(conditions, make("Ready", "True"), second(1));
  EXPECT_EQ(conditions.at(0).last_transition_time, second(1));
  set_condition(conditions, make("Ready", "True", "Other"), second(2));
  EXPECT_EQ(conditions.at(0).last_transition_time, second(1));
  EXPECT_EQ(conditions.at(0).reason, "Other");
  set_condition(conditions, make("Ready", "False"), second(3));
  EXPECT_EQ(conditions.at(0).last_transition_time, second(3));
}

TEST(SetCondition, LeavesTheOthersAndTheirOrder) {
  std::vector<Condition> conditions = {make("A", "True"), make("B", "True"), make("C", "True")};
  set_condition(conditions, make("B", "False"), second(1));
  set_condition(conditions, make("D", "True"), second(1));
  ASSERT_EQ(conditions.size(), 4U);
  EXPECT_EQ(conditions[0].type, "A");
  EXPECT_EQ(conditions[1], *find_condition(conditions, "B"));
  EXPECT_EQ(conditions[1].status, "False");
  EXPECT_EQ(conditions[3].type, "D");
}

TEST(IsTrue, NeedsTheConditionAndTrue) {
  const std::vector<Condition> conditions = {make("A", "True"), make("B", "False")};
  EXPECT_TRUE(is_true(conditions, "A"));
  EXPECT_FALSE(is_true(conditions, "B"));
  EXPECT_FALSE(is_true(conditions, "C"));
}

}  // namespace
}  // namespace gpupool::api
