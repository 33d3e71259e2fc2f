// SPDX-License-Identifier: Apache-2.0
// What workers report of their checkpoints, and how attempts end that were told to stop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "tests/unit/job-life/nothing_left.h"
#include "tests/unit/job-life/world.h"

namespace gpupool::planning {
namespace {

using test::Ending;
using test::World;
using testing::HasSubstr;
using testing::IsEmpty;
namespace phase = api::phase;
namespace reason = api::reason;

World yielding(std::int64_t gpus, Ending first) {
  World world(gpus, {"a", "b"});
  world.job.spec.checkpoint.emplace();
  world.ending = [first](std::int64_t attempt, std::int64_t) {
    return attempt == 0 ? first : Ending::kSuccess;
  };
  world.exit_when_told = [](std::int64_t, std::int64_t) { return 0; };
  return world;
}

TEST(Yield, CodeZeroAfterAStopFromOutsideIsNoSuccess) {
  for (const std::int64_t gpus : {1, 2}) {
    World world = yielding(gpus, Ending::kYielded);
    ASSERT_TRUE(world.run());
    const auto& status = world.job.status;
    EXPECT_EQ(status.phase, phase::kSucceeded);
    EXPECT_EQ(status.attempts, 2);
    EXPECT_EQ(status.failures, 0);
    EXPECT_EQ(status.unexplained_losses, 0);
    ASSERT_TRUE(status.progress);
    EXPECT_EQ(status.progress->history.front().cause, reason::kYielded);
    EXPECT_THAT(world.broken, IsEmpty());
    expect_nothing_left(world);
  }
}

TEST(Yield, IsNotForgivenOnlyAFewTimes) {
  World world = yielding(1, Ending::kYielded);
  world.ending = [](std::int64_t attempt, std::int64_t) {
    return attempt < 8 ? Ending::kYielded : Ending::kSuccess;
  };
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.job.status.attempts, 9);
  EXPECT_EQ(world.job.status.failures, 0);
  EXPECT_LE(world.job.status.progress->history.size(), api::kMaxHistory);
}

TEST(Yield, WithoutCheckpointsAStopIsALossAsBefore) {
  World world = yielding(1, Ending::kYielded);
  world.job.spec.checkpoint.reset();
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.job.status.unexplained_losses, 1);
}

TEST(Report, TheLowestStepOfAllRanksCounts) {
  World world = yielding(2, Ending::kSuccess);
  world.saved = [](std::int64_t, std::int64_t rank) {
    return R"({"step":)" + std::to_string(50 - rank) + "}";
  };
  ASSERT_TRUE(world.run());
  ASSERT_TRUE(world.job.status.progress && world.job.status.progress->checkpoint);
  EXPECT_EQ(world.job.status.progress->checkpoint->step, 49);
  EXPECT_TRUE(world.job.status.progress->history.empty());
}

TEST(Report, NeverGoesBack) {
  World world = yielding(1, Ending::kYielded);
  world.saved = [](std::int64_t attempt, std::int64_t) {
    return std::string(attempt == 0 ? R"({"step":90})" : R"({"step":5})");
  };
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.progress->checkpoint->step, 90);
  EXPECT_THAT(world.job.status.message, HasSubstr("step 5 comes before step 90"));
}

TEST(Report, ThatCannotBeReadIsToldOnce) {
  World world = yielding(1, Ending::kYielded);
  world.saved = [](std::int64_t attempt, std::int64_t) { return std::string(attempt == 0 ? "no JSON" : ""); };
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_FALSE(world.job.status.progress->checkpoint.has_value());
  EXPECT_EQ(std::ranges::count(world.events, std::string(api::event::kReportIgnored)), 1);
}

TEST(Report, OfASuspendedJobIsKept) {
  World world = yielding(2, Ending::kNever);
  world.saved = [](std::int64_t, std::int64_t) { return std::string(R"({"step":31,"path":"x"})"); };
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.change_spec([](auto& spec) { spec.suspend = true; });
  ASSERT_TRUE(world.run());
  const auto& status = world.job.status;
  EXPECT_EQ(status.phase, phase::kSuspended);
  ASSERT_TRUE(status.progress && status.progress->checkpoint);
  EXPECT_EQ(status.progress->checkpoint->step, 31);
  EXPECT_EQ(status.progress->history.back().cause, reason::kSuspended);
  EXPECT_EQ(status.progress->history.back().from_step, 31);
  EXPECT_EQ(status.progress->active_seconds, 0);
}

TEST(Report, OfALostNodeIsThatOfTheOtherRanks) {
  World world = yielding(2, Ending::kNever);
  world.nodes["c"] = world.nodes["a"];
  world.nodes["c"].metadata.name = "c";
  world.nodes["c"].metadata.uid = "uid-c";
  world.saved = [](std::int64_t attempt, std::int64_t) {
    return R"({"step":)" + std::to_string(20 + attempt) + "}";
  };
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.lose_node("b");
  world.now += std::chrono::seconds(31);
  ASSERT_TRUE(world.run([&] { return world.job.status.attempts == 2; }));
  const auto& end = world.job.status.progress->history.back();
  EXPECT_EQ(end.cause, reason::kNodeLost);
  EXPECT_EQ(end.left, "b");
  EXPECT_EQ(end.from_step, 20);
}

// The operator decides to stop the job, and writes this phase, at the moment at which the job ends by itself.
void end_meanwhile(World& world, const char* phase) {
  world.crash_now = [&]() -> std::optional<bool> {  // right after it has written the phase
    return world.job.status.phase == phase ? std::optional(false) : std::nullopt;
  };
  for (int i = 0; i < 50 && world.job.status.phase != phase; ++i) world.operate();
  ASSERT_EQ(world.job.status.phase, phase);
  world.crash_now = nullptr;
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kSuccess; };
  for (int i = 0; i < 3; ++i) world.turn();
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.job.status.attempts, 1);
  EXPECT_TRUE(world.job.status.completion_time.has_value());
  for (const auto& [rank, count] : world.starts) EXPECT_EQ(count, 1);
  expect_nothing_left(world);
}

struct Finished : testing::TestWithParam<std::tuple<std::int64_t, bool>> {
  World world = yielding(std::get<0>(GetParam()), Ending::kNever);

  Finished() {
    if (!std::get<1>(GetParam())) world.job.spec.checkpoint.reset();
    for (const char* name : {"c", "d"}) {
      auto& node = world.nodes[name] = world.nodes["a"];
      node.metadata.name = name;
      node.metadata.uid = std::string("uid-") + name;
    }
  }
};

TEST_P(Finished, BeforeTheNoticeOfASuspensionIsASuccess) {
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.change_spec([](auto& spec) { spec.suspend = true; });
  end_meanwhile(world, phase::kReleasing);
}

TEST_P(Finished, BeforeTheNoticeOfADrainIsASuccess) {
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.drain_node(world.job.status.lease->nodes.front().name);
  end_meanwhile(world, phase::kRestarting);
}

TEST_P(Finished, BeforeTheNoticeOfADrainOfAllNodesIsASuccess) {
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  const auto nodes = world.job.status.lease->nodes;
  for (const auto& node : nodes) world.drain_node(node.name);
  end_meanwhile(world, phase::kRestarting);
}

INSTANTIATE_TEST_SUITE_P(Ranks, Finished, testing::Combine(testing::Values(1, 2), testing::Bool()));

// The other ranks crash when a node is cut off, before it counts as lost.
TEST(History, ACrashThatFollowsFromALostNodeIsTheLoss) {
  World world = yielding(2, Ending::kNever);
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.lose_node("b");
  world.ending = [](std::int64_t attempt, std::int64_t rank) {
    return attempt == 0 && rank == 0 ? Ending::kCrash : Ending::kSuccess;
  };
  ASSERT_TRUE(world.run([&] { return world.job.status.phase == phase::kRestarting; }));
  EXPECT_EQ(world.job.status.progress->history.back().cause, reason::kWorkerFailed);
  world.nodes["c"] = world.nodes["a"];
  world.nodes["c"].metadata.name = "c";
  world.nodes["c"].metadata.uid = "uid-c";
  world.nodes["c"].metadata.labels.erase(api::kNodeLeaseLabel);
  world.nodes["c"].spec.taints.clear();
  world.now += std::chrono::seconds(31);
  ASSERT_TRUE(world.run([&] { return world.job.status.attempts == 2; }));
  ASSERT_EQ(world.job.status.progress->history.size(), 1U);
  EXPECT_EQ(world.job.status.progress->history.back().cause, reason::kNodeLost);
  EXPECT_EQ(world.job.status.progress->history.back().left, "b");
  EXPECT_EQ(world.job.status.failures, 0);
}

}  // namespace
}  // namespace gpupool::planning
