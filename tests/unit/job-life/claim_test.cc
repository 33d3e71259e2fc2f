// SPDX-License-Identifier: Apache-2.0
// A job that gets nodes for which others make room, and a job that makes room.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "tests/unit/job-life/claim_worlds.h"
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
namespace state = api::lease_state;

World claiming(std::int64_t gpus) {
  World world(gpus, {"a", "b"});
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kSuccess; };
  return world;
}

bool run_until_awaiting(World& world) {
  test::give_claim(world);
  return world.run(
      [&] { return world.job.status.lease && world.job.status.lease->state == state::kAwaiting; });
}

class Claim : public testing::TestWithParam<std::int64_t> {};
INSTANTIATE_TEST_SUITE_P(Gpus, Claim, testing::Values(1, 2));

TEST_P(Claim, NothingIsOnTheNodesUntilTheOtherJobHasLeftThem) {
  World world = claiming(GetParam());
  ASSERT_TRUE(run_until_awaiting(world));
  world.operate();
  const auto& status = world.job.status;
  EXPECT_EQ(status.phase, phase::kQueued);
  EXPECT_EQ(status.reason, reason::kWaitingForYield);
  EXPECT_THAT(status.lease->turn->awaits, ElementsAre("uid-of-other"));
  EXPECT_FALSE(status.lease->held_since);
  EXPECT_EQ(world.condition("Leased").status, "False");
  EXPECT_THAT(world.tainted(), IsEmpty());
  EXPECT_THAT(world.pods, IsEmpty());
  world.neighbours.clear();
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.job.status.attempts, 1);
  EXPECT_THAT(world.broken, IsEmpty());
  test::expect_nothing_left(world);
}

TEST_P(Claim, WaitsForTheMarksOfTheOtherJobToo) {
  World world = claiming(GetParam());
  ASSERT_TRUE(run_until_awaiting(world));
  world.nodes.at("a").spec.taints.push_back({api::kLease, "uid-of-other.1", "NoSchedule"});
  world.neighbours.clear();
  world.operate();
  EXPECT_EQ(world.job.status.lease->state, state::kAwaiting);
  world.nodes.at("a").spec.taints.clear();
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
}

TEST_P(Claim, IsGivenUpIfTheOtherJobDoesNotLeave) {
  World world = claiming(GetParam());
  ASSERT_TRUE(run_until_awaiting(world));
  world.now += std::chrono::seconds(61);
  world.on_verdict = [](Verdict& verdict) { verdict = {{}, reason::kWaitingForTurn, "waiting"}; };
  ASSERT_TRUE(world.run([&] { return world.job.status.reason == reason::kWaitingForTurn; }));
  EXPECT_TRUE(world.has_event(reason::kVictimStuck));
  EXPECT_FALSE(world.job.status.lease);
  EXPECT_EQ(world.job.status.attempts, 0);
}

TEST_P(Claim, EndsWithTheJobOrItsSpec) {
  using Change = std::function<void(World&)>;
  const std::vector<std::pair<std::string, Change>> changes = {
      {phase::kSuspended, [](World& world) { world.change_spec([](auto& spec) { spec.suspend = true; }); }},
      {phase::kQueued, [](World& world) { world.change_spec([](auto& spec) { spec.nodes = {"b"}; }); }},
      {phase::kQueued, [](World& world) { world.cordon_node("a"); }},
      {phase::kQueued, [](World& world) { world.remove_node("a"); }},
  };
  for (const auto& [ends_in, change] : changes) {
    World world = claiming(GetParam());
    ASSERT_TRUE(run_until_awaiting(world));
    world.on_verdict = [](Verdict& verdict) { verdict = {{}, reason::kWaitingForTurn, "waiting"}; };
    change(world);
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.job.status.phase, ends_in);
    EXPECT_FALSE(world.job.status.lease);
    EXPECT_THAT(world.tainted(), IsEmpty());
  }
  World world = claiming(GetParam());
  ASSERT_TRUE(run_until_awaiting(world));
  world.delete_job();
  ASSERT_TRUE(world.run());
  EXPECT_FALSE(world.job_exists);
}

World leaving(std::int64_t gpus) {
  World world(gpus, {"a", "b"});
  test::take_turns(world);
  world.job.spec.checkpoint.emplace();
  world.ending = [](std::int64_t attempt, std::int64_t) {
    return attempt == 0 ? Ending::kNever : Ending::kSuccess;
  };
  world.exit_when_told = [](std::int64_t, std::int64_t) { return 0; };
  return world;
}

TEST_P(Claim, AJobThatMakesRoomGoesOnLaterUncharged) {
  World world = leaving(GetParam());
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  test::claim_node(world);
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kQueued);
  EXPECT_EQ(world.job.status.progress->yields, 1);
  EXPECT_EQ(world.job.status.progress->history.back().cause, reason::kYielded);
  EXPECT_THAT(world.tainted(), IsEmpty());
  world.neighbours.clear();
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.job.status.attempts, 2);
  EXPECT_EQ(world.job.status.failures, 0);
  EXPECT_EQ(world.job.status.progress->yields, 1);
  test::expect_nothing_left(world);
}

TEST_P(Claim, WhoeverHasEndedBeforeItWasToldHasSucceeded) {
  World world = leaving(GetParam());
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kSuccess; };
  ASSERT_TRUE(
      world.run([&] { return world.job.status.lease && world.job.status.lease->state == state::kRunning; }));
  for (int i = 0; i < 20; ++i) world.turn();
  test::claim_node(world);
  ASSERT_TRUE(world.run([&] { return world.job.status.phase == phase::kSucceeded; }));
  EXPECT_EQ(world.job.status.attempts, 1);
  EXPECT_EQ(world.job.status.progress ? world.job.status.progress->yields : 0, 0);
}

TEST_P(Claim, OnlyAJobThatItNamesMakesRoom) {
  World world = leaving(GetParam());
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  auto claimant = test::neighbour(world, state::kAwaiting);
  claimant->status.lease->turn->awaits = {"uid-of-somebody"};
  world.neighbours = {claimant};
  ASSERT_TRUE(world.run());
  EXPECT_TRUE(world.running());
}

}  // namespace
}  // namespace gpupool::planning
