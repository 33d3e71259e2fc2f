// SPDX-License-Identifier: Apache-2.0
// One job in a sharing pool, from submission to end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/reasons.h"
#include "tests/unit/job-life/world.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using test::Ending;
using test::World;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Refs = std::vector<api::NodeRef>;
namespace phase = api::phase;
namespace reason = api::reason;

class SliceLife : public testing::Test {
 protected:
  void never_end() {
    world_.ending = [](std::int64_t, std::int64_t) { return Ending::kNever; };
  }
  void expect_nothing_left() const {
    EXPECT_THAT(world_.broken, IsEmpty());
    EXPECT_THAT(world_.tainted(), IsEmpty());
    EXPECT_THAT(world_.pods, IsEmpty());
    EXPECT_THAT(world_.children_at_work(), IsEmpty());
  }

  World world_{4, {"a", "b", "c"}};
};

TEST_F(SliceLife, TheStatusIsTheReservation) {
  world_.share(3);
  never_end();
  ASSERT_TRUE(world_.run([&] { return world_.running(); }));
  const auto& lease = *world_.job.status.lease;
  EXPECT_EQ(lease.slices, 3);
  EXPECT_EQ(lease.nodes, (Refs{{"a", "uid-a", 2}, {"b", "uid-b", 2}}));
  EXPECT_THAT(world_.tainted(), IsEmpty()) << "nothing is written on nodes";
  EXPECT_EQ(world_.history.front().lease->state, api::lease_state::kHeld) << "there is nothing to take";
}

TEST_F(SliceLife, SucceedsAndGivesBack) {
  world_.share(3);
  ASSERT_TRUE(world_.run());
  EXPECT_EQ(world_.job.status.phase, phase::kSucceeded);
  EXPECT_FALSE(world_.job.status.lease.has_value());
  EXPECT_THAT(world_.events, ElementsAre(reason::kCompleted));
  expect_nothing_left();
}

TEST_F(SliceLife, ACrashIsTriedAgainInTheSamePlace) {
  world_.share(3);
  world_.ending = [](std::int64_t attempt, std::int64_t rank) {
    return attempt == 0 && rank == 1 ? Ending::kCrash : Ending::kSuccess;
  };
  ASSERT_TRUE(world_.run());
  EXPECT_EQ(world_.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world_.job.status.failures, 1);
  EXPECT_FALSE(world_.has_event(reason::kPlacementRefused));
  expect_nothing_left();
}

TEST_F(SliceLife, ARefusedWorkerIsPlacedAgainAfterAWhile) {
  world_.share(3);
  world_.job.spec.backoff_limit = 0;
  int refusals = 3;
  world_.refuse = [&] { return world_.job.status.attempts == 4 - refusals && refusals-- > 0; };
  const auto begin = world_.now;
  ASSERT_TRUE(world_.run());
  EXPECT_EQ(world_.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world_.job.status.failures, 0);
  EXPECT_EQ(world_.job.status.attempts, 4);
  EXPECT_TRUE(world_.has_event(reason::kPlacementRefused));
  EXPECT_GE(world_.now - begin, std::chrono::seconds(2 + 4 + 8 - 3)) << "each time it waits longer";
  expect_nothing_left();
}

TEST_F(SliceLife, AWorkerWithoutAPlaceIsPlacedAgain) {
  world_.share(3);
  world_.job.spec.backoff_limit = 0;
  world_.scheduler_works = false;
  world_.scheduler_says = "0/3 nodes are available: 1 Insufficient gpupool.dev/vgpu";
  const auto begin = world_.now;
  ASSERT_TRUE(world_.run([&] { return world_.has_event(reason::kPlacementRefused); }));
  EXPECT_GE(world_.now - begin, std::chrono::seconds(9));
  EXPECT_LE(world_.now - begin, std::chrono::seconds(15));
  world_.scheduler_works = true;
  ASSERT_TRUE(world_.run());
  EXPECT_EQ(world_.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world_.job.status.failures, 0);
  expect_nothing_left();
}

TEST_F(SliceLife, ALostNodeIsLeft) {
  world_.share(3);
  world_.ending = [](std::int64_t attempt, std::int64_t) {
    return attempt == 0 ? Ending::kNever : Ending::kSuccess;
  };
  ASSERT_TRUE(world_.run([&] { return world_.running(); }));
  world_.lose_node("a");
  world_.now += std::chrono::seconds(31);
  ASSERT_TRUE(world_.run([&] { return world_.job.status.phase == phase::kSucceeded; }));
  EXPECT_EQ(world_.job.status.failures, 0);
  EXPECT_EQ(world_.job.status.node_names, "b,c");
  EXPECT_TRUE(world_.job.status.lease.has_value()) << "its old workers may still run";
  world_.recover_node("a");
  ASSERT_TRUE(world_.run([&] { return !world_.job.status.lease && world_.pods.empty(); }));
  expect_nothing_left();
}

TEST_F(SliceLife, SuspensionGivesSlicesBack) {
  world_.share(3);
  never_end();
  ASSERT_TRUE(world_.run([&] { return world_.running(); }));
  world_.change_spec([](auto& spec) { spec.suspend = true; });
  ASSERT_TRUE(world_.run());
  EXPECT_EQ(world_.job.status.phase, phase::kSuspended);
  expect_nothing_left();
}

TEST_F(SliceLife, APoolThatStopsSharingQueuesWhatHasNotStarted) {
  world_.share(3);
  world_.crash_now = [&] { return world_.job.status.lease ? std::optional(false) : std::nullopt; };
  world_.operate();
  world_.crash_now = nullptr;
  ASSERT_EQ(world_.job.status.lease->state, api::lease_state::kHeld);
  world_.pool->spec.sharing.reset();
  ASSERT_TRUE(world_.run([&] { return world_.job.status.reason == reason::kSliceInExclusivePool; }));
  EXPECT_EQ(world_.condition("Stalled").status, "True");
  expect_nothing_left();
}

TEST_F(SliceLife, WaitsForSlices) {
  world_.share(6);
  ASSERT_TRUE(world_.run());
  EXPECT_EQ(world_.job.status.reason, reason::kTooLarge);
  EXPECT_THAT(world_.job.status.message, HasSubstr("4 workers with 6 slices each"));
}

}  // namespace
}  // namespace gpupool::planning
