// SPDX-License-Identifier: Apache-2.0
#include "readers/attempt_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpupool::keeper {
namespace {

using nlohmann::json;
using std::chrono::hours;

json told(const AttemptInfo& attempt) {
  return json::parse(attempts_json({attempt}, {}, base::WallTime(hours(100))))["attempts"][0];
}

AttemptInfo two_ranks() {
  AttemptInfo attempt{.id = {"lab", "u", 3}, .job = "resnet", .attempt = 1, .pool = "p", .ranks = 2};
  attempt.begin = base::WallTime(hours(98));
  attempt.active = base::WallTime(hours(99));
  return attempt;
}

TEST(AttemptJson, OneThatRunsHasNoEnd) {
  const json one = told(two_ranks());
  EXPECT_EQ(one["lease"], 3);
  EXPECT_EQ(one["attempt"], 1);
  EXPECT_EQ(one["begin"], "1970-01-05T02:00:00Z");
  EXPECT_FALSE(one.contains("end"));
  EXPECT_FALSE(one.contains("outcome"));
}

TEST(AttemptJson, TheOutcomeIsThatOfTheFirstRankThatFailed) {
  AttemptInfo attempt = two_ranks();
  attempt.ended_ranks = 2;
  EXPECT_EQ(told(attempt)["outcome"], "exited");
  EXPECT_EQ(told(attempt)["exitCode"], 0);
  EXPECT_EQ(told(attempt)["end"], "1970-01-05T03:00:00Z");
  attempt.failure = RankEnd{"signaled", 137};
  EXPECT_EQ(told(attempt)["outcome"], "signaled");
  EXPECT_EQ(told(attempt)["exitCode"], 137);
}

TEST(AttemptJson, OneOfWhichNothingIsHeardHasEnded) {
  AttemptInfo attempt = two_ranks();
  attempt.ended_ranks = 1;
  attempt.active = base::WallTime(hours(75));
  EXPECT_EQ(told(attempt)["outcome"], "silent");
  attempt.writers = 1;
  EXPECT_FALSE(told(attempt).contains("end"));
}

}  // namespace
}  // namespace gpupool::keeper
