// SPDX-License-Identifier: Apache-2.0
// The numbers that a program reports come into the status with the outcome, for no write more.
#include <gmock/gmock.h>

#include "tests/unit/job-life/world.h"

namespace gpupool::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kLoss[] = R"(,"metrics":["loss 0.5 20 0.25 10 3 1 7 2"])";

api::JobMetrics asking_for(std::vector<std::string> names) { return {std::move(names), {}}; }

const api::JobMetric kLossMetric{"loss", "0.5", 20, "0.25", 10, "3", 1, 7, 2};

int writes_of(std::int64_t gpus, bool metrics) {
  World world(gpus, {"a", "b"});
  world.more_result = kLoss;
  if (metrics) world.job.spec.metrics = asking_for({"loss"});
  EXPECT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, api::phase::kSucceeded);
  EXPECT_EQ(world.job.status.metrics.has_value(), metrics);
  if (metrics) {
    EXPECT_THAT(world.job.status.metrics->values, ElementsAre(kLossMetric));
  }
  return world.writes;
}

TEST(JobMetrics, ComeWithTheOutcome) {
  EXPECT_EQ(writes_of(1, true), writes_of(1, false));
  EXPECT_EQ(writes_of(2, true), writes_of(2, false));
}

TEST(JobMetrics, ComeWithAFailureToo) {
  World world(1, {"a"});
  world.job.spec.metrics = asking_for({"loss"});
  world.job.spec.backoff_limit = 1;
  world.more_result = kLoss;
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kCrash; };
  EXPECT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, api::phase::kFailed);
  EXPECT_EQ(world.job.status.metrics->attempt, 1);
  EXPECT_THAT(world.job.status.metrics->values, ElementsAre(kLossMetric));
}

TEST(JobMetrics, WhatNeverCameIsSaid) {
  World world(1, {"a"});
  world.job.spec.metrics = asking_for({"loss", "acc"});
  world.more_result = R"(,"metrics":["loss 0.5 20 0.25 10 3 1 7 2"],"otherMetrics":["accuracy"])";
  EXPECT_TRUE(world.run());
  EXPECT_THAT(world.job.status.metrics->missing, ElementsAre("acc"));
  EXPECT_THAT(world.job.status.metrics->other_names, ElementsAre("accuracy"));
  EXPECT_THAT(world.job.status.message,
              HasSubstr("metrics that never came: acc; numbers that came instead: accuracy"));
}

// A program can write any result.
TEST(JobMetrics, OnlyNamesThatWereAskedForAndNumbersAreTaken) {
  World world(1, {"a"});
  world.job.spec.metrics = asking_for({"a", "b", "c", "d"});
  world.more_result =
      R"(,"metrics":["b x - - - - - 1 0","evil 1 - 1 - 1 - 1 0","a 1 - 1 - 1 - 1 0 9","c","d NaN - - - - - 1 1"],)"
      R"("otherMetrics":["","a b","ok"])";
  EXPECT_TRUE(world.run());
  const auto& metrics = *world.job.status.metrics;
  EXPECT_THAT(metrics.values, ElementsAre(api::JobMetric{"d", "NaN", {}, "", {}, "", {}, 1, 1}));
  EXPECT_THAT(metrics.missing, ElementsAre("a", "b", "c"));
  EXPECT_THAT(metrics.other_names, ElementsAre("ok"));
}

TEST(JobMetrics, AWorkerWithoutAResultLeavesThemOut) {
  World world(1, {"a"});
  world.job.spec.metrics = asking_for({"loss"});
  world.job.spec.backoff_limit = 0;
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kOutOfMemory; };
  EXPECT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, api::phase::kFailed);
  EXPECT_FALSE(world.job.status.metrics.has_value());
}

}  // namespace
}  // namespace gpupool::test
