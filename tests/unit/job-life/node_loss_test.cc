// SPDX-License-Identifier: Apache-2.0
// Node losses at every time: several at once, between two attempts, while workers end, cordoned, drained, and
// nodes that a job waits for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/nodes/lease_marks.h"
#include "tests/unit/job-life/world.h"

namespace gpupool::planning {
namespace {

using std::chrono::seconds;
using test::Ending;
using test::World;
using testing::ElementsAre;
using testing::IsEmpty;
namespace phase = api::phase;
namespace reason = api::reason;
namespace state = api::lease_state;

// All workers run; only those of later attempts end on their own.
World running_gang(std::int64_t gpus, const std::vector<std::string>& nodes) {
  World world(gpus, nodes);
  world.ending = [](std::int64_t attempt, std::int64_t) {
    return attempt == 0 ? Ending::kNever : Ending::kSuccess;
  };
  EXPECT_TRUE(world.run([&] { return world.running(); }));
  return world;
}

void never_replace(World& world) {
  world.change_spec([](auto& spec) { spec.node_replacement = api::node_replacement::kNever; });
}

std::vector<std::string> names_of(const World& world) {
  std::vector<std::string> names;
  if (!world.job.status.lease) return names;
  for (const auto& node : world.job.status.lease->nodes) names.push_back(node.name);
  return names;
}

void expect_over(World& world, std::int64_t attempts) {
  ASSERT_TRUE(world.run([&] { return world.job.finished() && world.pods.empty(); }));
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.job.status.attempts, attempts);
  EXPECT_EQ(world.job.status.failures, 0);
  EXPECT_THAT(world.tainted(), IsEmpty());
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(LostNodes, SeveralAtOnceAreReplacedTogether) {
  auto world = running_gang(3, {"a", "b", "c", "d", "e"});
  world.lose_node("a");
  world.lose_node("b");
  world.now += seconds(31);
  ASSERT_TRUE(world.run([&] { return world.job.status.phase == phase::kSucceeded; }));
  EXPECT_EQ(world.job.status.attempts, 2) << "one more attempt for both";
  EXPECT_THAT(world.tainted(), ElementsAre("a", "b"));
  world.recover_node("a");
  world.recover_node("b");
  expect_over(world, 2);
}

TEST(LostNodes, AreReplacedBeforeTheOldWorkersHaveEnded) {
  auto world = running_gang(2, {"a", "b", "c"});
  world.lose_node("b");
  world.now += seconds(31);
  const auto lease = world.job.status.lease->id;
  world.operate();
  EXPECT_EQ(world.job.status.lease->state, state::kRestarting);
  EXPECT_TRUE(carries_lease(world.nodes["c"], world.job.status.lease->id));
  EXPECT_TRUE(carries_lease(world.nodes["a"], lease)) << "its worker is still there";
  ASSERT_TRUE(world.run([&] { return world.job.status.phase == phase::kSucceeded; }));
  world.recover_node("b");
  expect_over(world, 2);
}

TEST(LostNodes, AReplacementThatIsLostTooIsLeft) {
  auto world = running_gang(2, {"a", "b", "c", "d"});
  world.lose_node("b");
  world.now += seconds(31);
  world.operate();
  ASSERT_EQ(names_of(world), (std::vector<std::string>{"a", "c"}));
  world.nodes.erase("c");
  ASSERT_TRUE(world.run([&] { return world.job.status.phase == phase::kSucceeded; }));
  world.recover_node("b");
  expect_over(world, 2);
}

TEST(LostNodes, OneAfterTheOtherCostOneAttempt) {
  auto world = running_gang(2, {"a", "b", "c", "d"});
  world.lose_node("a");
  world.now += seconds(10);
  world.lose_node("b");
  world.now += seconds(21);
  ASSERT_TRUE(world.run([&] { return world.job.status.lease->state == state::kRestarting; }));
  world.now += seconds(10);  // the second loss, while the first node is being replaced
  ASSERT_TRUE(world.run([&] { return world.job.status.phase == phase::kSucceeded; }));
  EXPECT_EQ(world.job.status.attempts, 2);
  EXPECT_EQ(world.job.status.failures, 0);
  world.recover_node("a");
  world.recover_node("b");
  expect_over(world, 2);
}

TEST(LostNodes, TheLastOneGoesBackToTheQueueWithItsAttempt) {
  auto world = running_gang(1, {"a"});
  world.lose_node("a");
  world.now += seconds(31);
  ASSERT_TRUE(world.run([&] { return world.job.status.phase == phase::kQueued; }));
  EXPECT_EQ(world.job.status.attempts, 1);
  world.recover_node("a");
  expect_over(world, 2);
}

TEST(LostNodes, BetweenTwoAttemptsDoNotHoldUpTheNext) {
  World world(2, {"a", "b", "c"});
  world.ending = [](std::int64_t attempt, std::int64_t rank) {
    if (attempt > 0) return Ending::kSuccess;
    return rank == 0 ? Ending::kCrash : Ending::kNever;
  };
  ASSERT_TRUE(world.run([&] {
    const bool both = world.starts.size() == 2;
    if (both && world.nodes["b"].ready()) world.lose_node("b");  // its worker cannot end
    return world.job.status.lease && world.job.status.lease->state == state::kRestarting;
  }));
  EXPECT_EQ(world.job.status.failures, 1);
  world.now += seconds(31);
  ASSERT_TRUE(world.run([&] { return world.job.status.phase == phase::kSucceeded; }));
  EXPECT_EQ(world.job.status.failures, 0) << "the crash may have come from the loss";
  EXPECT_EQ(world.job.status.attempts, 2);
  world.recover_node("b");
  expect_over(world, 2);
}

TEST(LostNodes, WhileWorkersEndHoldUpNoOtherNode) {
  for (const bool deleted : {false, true}) {
    auto world = running_gang(2, {"a", "b"});
    world.lose_node("b");
    if (deleted) {
      world.delete_job();
    } else {
      world.change_spec([](auto& spec) { spec.suspend = true; });
    }
    world.operate();
    world.now += seconds(31);
    ASSERT_TRUE(world.run([&] { return world.tainted() == std::vector<std::string>{"b"}; }));
    EXPECT_TRUE(deleted || world.job.status.phase == phase::kSuspended);
    EXPECT_TRUE(world.job_exists);
    world.recover_node("b");
    ASSERT_TRUE(world.run([&] { return world.pods.empty() && world.tainted().empty(); }));
    ASSERT_TRUE(!deleted || world.run([&] { return !world.job_exists; }));
    EXPECT_THAT(world.broken, IsEmpty());
  }
}

TEST(LostNodes, MadeAgainUnderTheirNameAreOthers) {
  auto world = running_gang(2, {"a", "b", "c"});
  auto again = world.nodes["b"];
  again.metadata.uid = "uid-b-again";
  again.metadata.labels.erase(api::kNodeLeaseLabel);
  again.metadata.annotations.clear();
  again.spec.taints.clear();
  world.nodes["b"] = again;
  expect_over(world, 2);
}

TEST(LostNodes, AreLookedAtLiveBeforeTheyAreGivenUp) {
  auto world = running_gang(2, {"a", "b", "c"});
  const int looks = world.live_looks;
  world.lose_node("b");
  world.now += seconds(31);
  ASSERT_TRUE(world.run([&] { return world.job.status.lease->state == state::kRestarting; }));
  EXPECT_GT(world.live_looks, looks);
}

TEST(LostNodes, StampsOfOtherClocksMeanNothing) {
  for (const int minutes : {-10, 10}) {
    auto world = running_gang(2, {"a", "b", "c"});
    world.lose_node("b");
    for (auto& condition : world.nodes["b"].status.conditions)
      condition.last_transition_time = world.now + std::chrono::minutes(minutes);
    world.now += seconds(29);
    world.operate();
    EXPECT_TRUE(world.running());
    world.now += seconds(2);
    world.operate();
    EXPECT_EQ(world.job.status.reason, reason::kNodeLost);
  }
}

TEST(CordonedNode, KeepsTheWorkerThatRunsThere) {
  auto world = running_gang(2, {"a", "b", "c"});
  world.cordon_node("b");
  ASSERT_TRUE(world.run());
  EXPECT_TRUE(world.running());
  EXPECT_EQ(world.job.status.attempts, 1);
}

TEST(CordonedNode, IsLeftWhenItsWorkerIsEvicted) {
  for (const std::int64_t gpus : {1, 2}) {
    auto world = running_gang(gpus, {"a", "b", "c"});
    world.cordon_node("a");
    const auto pods = world.pods;
    for (const auto& [name, pod] : pods) {
      if (pod->spec.node_name == "a") world.delete_pod(name);
    }
    ASSERT_TRUE(world.run([&] { return world.running() || world.job.finished(); }));
    for (const auto& status : world.history) {
      if (!status.lease || status.lease->attempt == 0) continue;
      for (const auto& node : status.lease->nodes) EXPECT_NE(node.name, "a");
    }
    expect_over(world, 2);
  }
}

TEST(CordonedNode, WithoutAnotherSendsTheJobToTheQueue) {
  auto world = running_gang(2, {"a", "b"});
  world.cordon_node("b");
  world.delete_pod("job-1-0");
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kQueued);
  EXPECT_FALSE(world.job.status.lease.has_value());
  EXPECT_THAT(world.tainted(), IsEmpty());
  world.cordon_node("b", false);
  expect_over(world, 2);
}

TEST(CordonedNode, BeforeItsWorkerCameIsLeft) {
  World world(2, {"a", "b", "c"});
  world.scheduler_works = false;
  ASSERT_TRUE(world.run([&] { return world.pods.size() == 2; }));
  world.cordon_node("b");
  world.scheduler_works = true;
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_TRUE(world.has_event(reason::kNodeCordoned));
  EXPECT_EQ(world.job.status.failures, 0);
  EXPECT_THAT(world.tainted(), IsEmpty());
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(NodeReplacementNever, WaitsAndLeavesWhatRunsAlone) {
  auto world = running_gang(2, {"a", "b", "c"});
  never_replace(world);
  world.lose_node("b");
  world.now += std::chrono::hours(2);
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.reason, reason::kWaitingForLostNode);
  EXPECT_EQ(world.job.status.phase, phase::kRunning);
  EXPECT_THAT(names_of(world), ElementsAre("a", "b"));
  world.recover_node("b");  // its kubelet was cut off; the worker still runs
  ASSERT_TRUE(world.run([&] { return world.job.status.reason == reason::kWorkersRunning; }));
  EXPECT_EQ(world.job.status.attempts, 1);
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kSuccess; };
  expect_over(world, 1);
}

TEST(NodeReplacementNever, StartsAgainOnTheSameNodesWhenAWorkerHasEnded) {
  auto world = running_gang(2, {"a", "b", "c"});
  never_replace(world);
  world.lose_node("b");
  world.now += seconds(31);
  ASSERT_TRUE(world.run([&] { return world.job.status.reason == reason::kWaitingForLostNode; }));
  world.ending = [](std::int64_t attempt, std::int64_t rank) {
    if (attempt > 0) return Ending::kSuccess;
    return rank == 0 ? Ending::kCrash : Ending::kNever;  // the other rank has no rank 0 any more
  };
  ASSERT_TRUE(world.run([&] { return world.job.status.lease->state == state::kRestarting; }));
  EXPECT_EQ(world.job.status.failures, 0) << "the crash followed from the loss";
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.reason, reason::kWaitingForLostNode);
  EXPECT_THAT(names_of(world), ElementsAre("a", "b"));
  world.recover_node("b");
  expect_over(world, 2);
}

TEST(NodeReplacementNever, WaitsForACordonedNodeToo) {
  auto world = running_gang(2, {"a", "b", "c"});
  never_replace(world);
  world.cordon_node("b");
  world.delete_pod("job-1-1");
  ASSERT_TRUE(world.run([&] { return world.job.status.reason == reason::kWaitingForLostNode; }));
  world.now += std::chrono::hours(2);  // startTimeoutSeconds does not count during this time
  world.cordon_node("b", false);
  expect_over(world, 2);
}

TEST(NodeReplacementNever, ANodeWhoseObjectIsGoneDoesNotComeBack) {
  auto world = running_gang(2, {"a", "b"});
  never_replace(world);
  world.remove_node("b");
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kQueued);
  EXPECT_EQ(world.job.status.failures, 0);
  EXPECT_THAT(world.tainted(), IsEmpty());
}

TEST(LostNodes, AllOfThemWithoutOthersStopTheClock) {
  World world(1, {"a"});
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kNever; };
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.now += std::chrono::seconds(60);
  world.lose_node("a");
  world.now += std::chrono::seconds(60);
  world.run([&] { return world.job.status.phase == phase::kQueued; });
  ASSERT_EQ(world.job.status.phase, phase::kQueued);
  EXPECT_FALSE(world.job.status.start_time.has_value());
  ASSERT_TRUE(world.job.status.progress);
  EXPECT_GE(world.job.status.progress->active_seconds, 120);
}

}  // namespace
}  // namespace gpupool::planning
