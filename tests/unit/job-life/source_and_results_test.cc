// SPDX-License-Identifier: Apache-2.0
// spec.source and spec.results: what their reports do to a job.
#include <gmock/gmock.h>

#include "api/v1alpha1/reasons.h"
#include "tests/unit/job-life/world.h"

namespace gpupool::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
namespace data_reason = api::reason;

constexpr char kSource[] = R"({"items":[{"path":"a","http":{"url":"https://x/a"}}],"timeoutSeconds":100})";
constexpr char kResults[] =
    R"x([{"from":"/gpupool/work/out","to":{"s3":{"bucket":"abc","prefix":"$(job)"}},"timeoutSeconds":60}])x";

World world_with_data(std::int64_t gpus) {
  World world(gpus, {"a", "b", "c"});
  world.job.spec.source = base::json::RawJson{kSource};
  world.job.spec.results = base::json::RawJson{kResults};
  return world;
}

std::string failing(const std::string& reason) {
  return R"({"version":1,"milliseconds":20,"reason":")" + reason + R"(","message":"a: https://x/a: 403"})";
}

TEST(SourceAndResults, CostNoWriteOfThoseThatDoNotWaitForThem) {
  for (const std::int64_t gpus : {1, 3}) {
    World plain(gpus, {"a", "b", "c"});
    ASSERT_TRUE(plain.run());
    World world = world_with_data(gpus);
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.job.status.phase, api::phase::kSucceeded);
    EXPECT_THAT(world.broken, IsEmpty());
    ASSERT_TRUE(world.job.status.source.has_value());
    EXPECT_EQ(world.job.status.source->state, "Fetched");
    EXPECT_EQ(world.job.status.source->bytes, 7);
    EXPECT_EQ(world.job.status.source->seconds, 2);
    ASSERT_TRUE(world.job.status.results.has_value());
    EXPECT_EQ(world.job.status.results->state, "Complete");
    EXPECT_EQ(world.job.status.results->items.at(0).to, "s3://b/x");
    // Fetching, and that results are being saved, are shown.
    EXPECT_LE(world.writes, plain.writes + 3);
    EXPECT_FALSE(plain.job.status.source.has_value());
    EXPECT_FALSE(plain.job.status.results.has_value());
  }
}

class SourceFailure : public testing::TestWithParam<std::string> {};

TEST_P(SourceFailure, EndsTheJobAtOnceWithItsReason) {
  for (const std::int64_t gpus : {1, 3}) {
    World world = world_with_data(gpus);
    world.source_report = [](std::int64_t) { return failing(GetParam()); };
    ASSERT_TRUE(world.run([&] { return world.job.finished(); }));
    EXPECT_EQ(world.job.status.phase, api::phase::kFailed);
    EXPECT_EQ(world.job.status.reason, GetParam());
    EXPECT_THAT(world.job.status.message, HasSubstr("a: https://x/a: 403"));
    EXPECT_EQ(world.job.status.failures, 0);
    EXPECT_EQ(world.job.status.source->state, "Failed");
    EXPECT_FALSE(world.job.status.results.has_value()) << "nothing has run";
    EXPECT_THAT(world.tainted(), IsEmpty());
    EXPECT_THAT(world.starts, IsEmpty());
  }
}

INSTANTIATE_TEST_SUITE_P(Reasons, SourceFailure,
                         testing::Values(data_reason::kSourceDenied, data_reason::kSourceNotFound,
                                         data_reason::kSourceMismatch, data_reason::kSourceTooLarge,
                                         data_reason::kSourceInvalid));

TEST(SourceAndResults, AServerThatIsAwayCountsAsAFailure) {
  World world = world_with_data(2);
  world.job.spec.backoff_limit = 1;
  world.source_report = [](std::int64_t) { return failing(data_reason::kSourceUnavailable); };
  ASSERT_TRUE(world.run([&] { return world.job.finished(); }));
  EXPECT_EQ(world.job.status.reason, data_reason::kBackoffLimitExceeded);
  EXPECT_EQ(world.job.status.failures, 2);
}

TEST(SourceAndResults, AFetchWithoutMemoryCountsAsAFailure) {
  for (const std::int64_t gpus : {1, 3}) {
    World world = world_with_data(gpus);
    world.job.spec.backoff_limit = 0;
    world.source_report = [](std::int64_t) { return std::string(World::kOutOfMemory); };
    ASSERT_TRUE(world.run([&] { return world.job.finished(); }));
    EXPECT_THAT(world.job.status.message, HasSubstr("gpupool-carry ran out of memory"));
    EXPECT_EQ(world.job.status.failures, 1);
  }
}

TEST(SourceAndResults, RanksWithOtherBytesEndTheAttempt) {
  World world = world_with_data(3);
  world.job.spec.backoff_limit = 0;
  world.source_report = [](std::int64_t rank) {
    return R"({"version":1,"items":[{"path":"a","digest":"sha256:)" + std::to_string(rank / 2) + R"("}]})";
  };
  ASSERT_TRUE(world.run([&] { return world.job.finished(); }));
  EXPECT_EQ(world.job.status.phase, api::phase::kFailed);
  EXPECT_THAT(world.job.status.message, HasSubstr("has other bytes than on rank 0"));
}

TEST(SourceAndResults, ResultsThatAreNeverReportedDoNotHoldTheNodesForEver) {
  for (const std::int64_t gpus : {1, 3}) {
    World world = world_with_data(gpus);
    world.results_stuck = true;
    const auto begin = world.now;
    ASSERT_TRUE(world.run([&] { return world.job.finished(); }));
    EXPECT_EQ(world.job.status.phase, api::phase::kSucceeded);
    EXPECT_EQ(world.job.status.results->state, "Complete") << "it reports when its pod is deleted";
    EXPECT_GE(world.now - begin, std::chrono::seconds(60));
    EXPECT_LE(world.now - begin, std::chrono::seconds(150));
  }
}

TEST(SourceAndResults, IncompleteResultsAreSaid) {
  World world = world_with_data(1);
  world.results_report =
      R"({"version":1,"items":[{"path":"/gpupool/work/out","state":"Incomplete","message":"no space"}]})";
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, api::phase::kSucceeded);
  EXPECT_EQ(world.job.status.results->state, "Incomplete");
  EXPECT_THAT(world.job.status.message,
              HasSubstr("results are incomplete: /gpupool/work/out: rank 0: no space"));
}

TEST(SourceAndResults, APodThatIsOverReportsNothingMore) {
  World world = world_with_data(1);
  world.results_report = "";  // its container was killed, and is not started again
  const auto begin = world.now;
  ASSERT_TRUE(world.run([&] { return world.job.finished(); }));
  EXPECT_EQ(world.job.status.phase, api::phase::kSucceeded);
  EXPECT_EQ(world.job.status.results->state, "Incomplete");
  EXPECT_LT(world.now - begin, std::chrono::seconds(60)) << "timeoutSeconds is not waited for";
}

TEST(SourceAndResults, ASuspendedJobTellsWhatItCouldSave) {
  World world = world_with_data(2);
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kNever; };
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.change_spec([](auto& spec) { spec.suspend = true; });
  ASSERT_TRUE(world.run([&] { return world.job.status.phase == api::phase::kSuspended; }));
  EXPECT_EQ(world.job.status.results->state, "Complete");
}

}  // namespace
}  // namespace gpupool::test
