// SPDX-License-Identifier: Apache-2.0
// Nodes with the annotation gpupool.dev/drain, under jobs that run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "base/rfc3339.h"
#include "tests/unit/job-life/nothing_left.h"
#include "tests/unit/job-life/world.h"

namespace gpupool::planning {
namespace {

using test::Ending;
using test::World;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace phase = api::phase;
namespace reason = api::reason;

// Its first attempt runs until it is told to stop; then it has saved its work at step 1200.
World saving(std::int64_t gpus, const std::vector<std::string>& nodes) {
  World world(gpus, nodes);
  world.job.spec.checkpoint.emplace();
  world.ending = [](std::int64_t attempt, std::int64_t) {
    return attempt == 0 ? Ending::kNever : Ending::kSuccess;
  };
  world.exit_when_told = [](std::int64_t, std::int64_t) { return 0; };
  world.saved = [](std::int64_t attempt, std::int64_t) {
    return R"({"step":)" + std::to_string(1200 + 100 * attempt) + R"(,"path":"step"})";
  };
  return world;
}

std::vector<std::string> names_of(const std::vector<api::NodeRef>& nodes) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const auto& node : nodes) names.push_back(node.name);
  return names;
}

void expect_moved_once(const World& world) {
  const auto& status = world.job.status;
  EXPECT_EQ(status.phase, phase::kSucceeded);
  EXPECT_EQ(status.attempts, 2);
  EXPECT_EQ(status.failures, 0);
  EXPECT_THAT(world.broken, IsEmpty());
  ASSERT_TRUE(status.progress);
  ASSERT_EQ(status.progress->history.size(), 1U);
  const auto& first = status.progress->history.front();
  EXPECT_EQ(first.attempt, 0);
  EXPECT_EQ(first.cause, reason::kDraining);
  EXPECT_EQ(first.from_step, 1200);
  EXPECT_EQ(first.repeated_seconds, 5);
  ASSERT_TRUE(status.progress->checkpoint);
  EXPECT_EQ(status.progress->checkpoint->step, 1300);
}

TEST(Drain, MovesAGangToAnotherNode) {
  World world = saving(2, {"a", "b", "c"});
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.drain_node("b");
  ASSERT_TRUE(world.run([&] { return world.job.status.attempts == 2; }));
  EXPECT_THAT(names_of(world.job.status.lease->nodes), ElementsAre("a", "c"));
  EXPECT_FALSE(world.job.status.lease->nodes[0].since.has_value());
  EXPECT_TRUE(world.job.status.lease->nodes[1].since.has_value());
  ASSERT_TRUE(world.run());
  expect_moved_once(world);
  EXPECT_EQ(world.job.status.progress->history.front().left, "b");
  EXPECT_TRUE(world.has_event(api::event::kCheckpointed));
  expect_nothing_left(world);
}

TEST(Drain, TakesTheNewNodeBeforeTheWorkersAreToldToStop) {
  World world = saving(1, {"a", "b"});
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.drain_node("a");
  bool taken_first = false;
  world.exit_when_told = [&](std::int64_t, std::int64_t) {
    const auto tainted = world.tainted();
    taken_first = std::ranges::find(tainted, "b") != tainted.end();
    return 0;
  };
  ASSERT_TRUE(world.run());
  EXPECT_TRUE(taken_first);
  expect_moved_once(world);
}

TEST(Drain, WithoutADeadlineAJobStaysUntilAnotherNodeIsFree) {
  World world = saving(2, {"a", "b"});
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.drain_node("b");
  const auto late = world.now + std::chrono::minutes(20);
  ASSERT_TRUE(world.run([&] { return world.now > late; }));
  EXPECT_EQ(world.job.status.attempts, 1);
  EXPECT_EQ(world.job.status.reason, reason::kDraining);
  EXPECT_THAT(world.job.status.message, HasSubstr("until another node is free"));
  world.nodes["c"] = world.nodes["a"];
  world.nodes["c"].metadata.name = "c";
  world.nodes["c"].metadata.uid = "uid-c";
  world.nodes["c"].metadata.labels.erase(api::kNodeLeaseLabel);
  world.nodes["c"].spec.taints.clear();
  ASSERT_TRUE(world.run());
  expect_moved_once(world);
}

TEST(Drain, AfterTheDeadlineTheJobWaitsInTheQueue) {
  World world = saving(2, {"a", "b"});
  world.job.spec.active_deadline_seconds = 600;
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  const auto deadline = world.now + std::chrono::seconds(60);
  world.drain_node("b", base::to_rfc3339(deadline));
  ASSERT_TRUE(world.run([&] { return world.job.status.phase == phase::kQueued; }));
  EXPECT_GE(world.now, deadline);
  EXPECT_FALSE(world.job.status.start_time.has_value());
  EXPECT_THAT(world.job.status.progress->active_seconds, testing::AllOf(testing::Ge(58), testing::Le(70)));
  EXPECT_THAT(world.tainted(), IsEmpty());
  const auto much_later = world.now + std::chrono::hours(1);  // the deadline of the job does not count here
  ASSERT_TRUE(world.run());
  world.now = much_later;
  world.end_drain("b");
  ASSERT_TRUE(world.run());
  expect_moved_once(world);
}

TEST(Drain, TakenBackLeavesTheWorkersAlone) {
  World world = saving(2, {"a", "b"});
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.drain_node("b", base::to_rfc3339(world.now + std::chrono::minutes(5)));
  ASSERT_TRUE(world.run([&] { return world.job.status.reason == reason::kDraining; }));
  world.end_drain("b");
  const auto later = world.now + std::chrono::minutes(10);
  world.run([&] { return world.now > later; });
  EXPECT_EQ(world.job.status.attempts, 1);
  EXPECT_EQ(world.job.status.reason, reason::kWorkersRunning);
}

TEST(Drain, AJobThatKeepsItsNodesGoesToTheQueue) {
  World world = saving(2, {"a", "b", "c"});
  world.job.spec.node_replacement = api::node_replacement::kNever;
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.drain_node("b");
  ASSERT_TRUE(world.run());
  expect_moved_once(world);
  expect_nothing_left(world);
}

TEST(Drain, OfAllNodesOfAJobAtOnce) {
  World world = saving(2, {"a", "b", "c", "d"});
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.drain_node("a");
  world.drain_node("b");
  ASSERT_TRUE(world.run([&] { return world.job.status.attempts == 2; }));
  EXPECT_THAT(names_of(world.job.status.lease->nodes), ElementsAre("c", "d"));
  ASSERT_TRUE(world.run());
  expect_moved_once(world);
}

TEST(Drain, TheNewNodeIsDrainedTooBeforeTheNextAttempt) {
  World world = saving(1, {"a", "b", "c"});
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.drain_node("a");
  ASSERT_TRUE(world.run([&] { return world.job.status.phase == phase::kRestarting; }));
  world.drain_node("b");
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.job.status.attempts, 2);
  EXPECT_THAT(world.broken, IsEmpty());
  expect_nothing_left(world);
}

TEST(Drain, OfASharedLeaseGoesThroughTheQueue) {
  World world = saving(1, {"a", "b"});
  world.share(4);
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.drain_node(world.job.status.lease->nodes[0].name);
  ASSERT_TRUE(world.run());
  expect_moved_once(world);
}

TEST(Drain, OfAnotherMachineWithTheSameNameIsIgnored) {
  World world = saving(1, {"a", "b"});
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.drain_node("b");
  const auto later = world.now + std::chrono::minutes(10);
  world.run([&] { return world.now > later; });
  EXPECT_EQ(world.job.status.attempts, 1);
}

}  // namespace
}  // namespace gpupool::planning
