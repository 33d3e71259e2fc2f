// SPDX-License-Identifier: Apache-2.0
// Suspension, deletion, deadlines, changed specs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "tests/unit/job-life/nothing_left.h"
#include "tests/unit/job-life/world.h"

namespace gpupool::planning {
namespace {

using test::Ending;
using test::World;
using testing::IsEmpty;
namespace phase = api::phase;
namespace reason = api::reason;
namespace state = api::lease_state;

World endless(std::int64_t gpus, const std::vector<std::string>& nodes) {
  World world(gpus, nodes);
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kNever; };
  return world;
}

auto in_state(const World& world, const std::string& wanted) {
  return [&world, wanted] { return world.job.status.lease && world.job.status.lease->state == wanted; };
}

// Crashes the operator right after it has written the status with this state, so that the test can act in
// that state.
void stop_in(World& world, const std::string& wanted) {
  world.crash_now = [&world, wanted, count = 0]() mutable -> std::optional<bool> {
    const bool there = world.job.status.lease && world.job.status.lease->state == wanted;
    return there && ++count == 1 ? std::optional(false) : std::nullopt;
  };
  for (int i = 0; i < 50 && !in_state(world, wanted)(); ++i) {
    world.operate();
    if (!in_state(world, wanted)()) world.turn();
  }
  world.crash_now = nullptr;
  ASSERT_TRUE(in_state(world, wanted)()) << wanted;
}

TEST(Suspend, GivesEverythingBackAndResumesInANewAttempt) {
  World world = endless(2, {"a", "b"});
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.change_spec([](auto& spec) { spec.suspend = true; });
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSuspended);
  EXPECT_EQ(world.condition("Suspended").status, "True");
  EXPECT_FALSE(world.job.status.start_time.has_value());
  expect_nothing_left(world);
  world.change_spec([](auto& spec) { spec.suspend = false; });
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kSuccess; };
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.condition("Suspended").status, "False");
  EXPECT_EQ(world.job.status.attempts, 2);
  EXPECT_EQ(world.job.status.failures, 0);
}

TEST(Deletion, NeedsNoStatusThatNobodyCouldRead) {
  for (const std::int64_t gpus : {1, 2}) {
    World world = endless(gpus, {"a", "b"});
    ASSERT_TRUE(world.run([&] { return world.running(); }));
    world.delete_job();
    ASSERT_TRUE(world.run([&] { return !world.job_exists && world.pods.empty(); }));
    EXPECT_EQ(world.history.back().phase, phase::kReleasing);
    expect_nothing_left(world);
  }
}

// Otherwise the nodes would appear taken for as long as somebody else's finalizer keeps the job.
TEST(Deletion, SaysThatItsNodesAreFreeWhereTheJobStays) {
  World world = endless(1, {"a"});
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.job.metadata.finalizers.emplace_back("example.com/others");
  world.delete_job();
  ASSERT_TRUE(world.run());
  EXPECT_TRUE(world.job_exists);
  EXPECT_FALSE(world.job.status.lease.has_value());
  EXPECT_FALSE(world.job.metadata.has_finalizer(api::kLease));
  expect_nothing_left(world);
}

// Creates all workers and crashes the operator before it writes that. A single worker runs while the lease is
// still Taking.
void start_unannounced(World& world) {
  world.crash_now = [&world]() -> std::optional<bool> {
    return world.has_child("Job") || world.has_child("StatefulSet") ? std::optional(false) : std::nullopt;
  };
  world.operate();
  world.crash_now = nullptr;
  ASSERT_TRUE(in_state(world, world.job.spec.gpus == 1 ? state::kTaking : state::kHeld)());
  while (world.starts.empty()) ASSERT_TRUE(world.turn());
}

class Unannounced : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override { start_unannounced(world_); }

  World world_ = endless(GetParam(), {"a", "b", "c"});
};

TEST_P(Unannounced, WorkersAreFoundAgain) {
  world_.ending = [](std::int64_t, std::int64_t) { return Ending::kSuccess; };
  ASSERT_TRUE(world_.run());
  EXPECT_EQ(world_.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world_.job.status.attempts, 1);
  expect_nothing_left(world_);
}

TEST_P(Unannounced, SuspensionUsesTheAttemptUp) {
  world_.change_spec([](auto& spec) { spec.suspend = true; });
  ASSERT_TRUE(world_.run());
  expect_nothing_left(world_);
  world_.change_spec([](auto& spec) { spec.suspend = false; });
  ASSERT_TRUE(world_.run([&] { return world_.running(); }));
  EXPECT_THAT(world_.broken, IsEmpty());
  EXPECT_EQ(world_.job.status.attempts, 2);
}

TEST_P(Unannounced, WorkersThatTheCacheNeverShowsAreLookedFor) {
  World world = endless(GetParam(), {"a", "b"});
  world.freeze_cache();
  start_unannounced(world);
  world.change_spec([](auto& spec) { spec.suspend = true; });
  ASSERT_TRUE(world.run([&] { return world.job.status.phase == phase::kSuspended; }));
  expect_nothing_left(world);
}

TEST_P(Unannounced, DeletionLeavesNothing) {
  world_.delete_job();
  ASSERT_TRUE(world_.run([&] { return !world_.job_exists && world_.pods.empty(); }));
  expect_nothing_left(world_);
}

TEST_P(Unannounced, AnotherSpecUsesTheAttemptUp) {
  world_.change_spec([](auto& spec) { spec.gpus = 3; });
  ASSERT_TRUE(world_.run([&] { return world_.running(); }));
  EXPECT_EQ(world_.job.status.workers.total, 3);
  EXPECT_EQ(world_.job.status.attempts, 2);
  EXPECT_THAT(world_.broken, IsEmpty());
}

TEST_P(Unannounced, ALostNodeUsesTheAttemptUp) {
  world_.lose_node("a");
  world_.now += std::chrono::seconds(31);
  ASSERT_TRUE(world_.run([&] { return world_.running(); }));
  EXPECT_EQ(world_.job.status.attempts, 2);
  EXPECT_EQ(world_.job.status.failures, 0);
  EXPECT_THAT(world_.broken, IsEmpty());
  EXPECT_THAT(world_.tainted(), testing::Contains("a")) << "its worker may still run";
  world_.recover_node("a");
  world_.delete_job();
  ASSERT_TRUE(world_.run([&] { return !world_.job_exists && world_.pods.empty(); }));
  expect_nothing_left(world_);
}

TEST_P(Unannounced, ANodeRefusedToTheNextOperatorUsesTheAttemptUp) {
  world_.nodes["a"].spec.taints.clear();  // somebody has removed the mark
  world_.taken_meanwhile = "a";
  world_.change_spec([](auto& spec) { spec.start_timeout_seconds = 3600; });
  ASSERT_TRUE(world_.run([&] { return world_.running(); }));
  EXPECT_TRUE(world_.has_event(reason::kNodeTaken));
  EXPECT_EQ(world_.job.status.attempts, 2);
  EXPECT_THAT(world_.broken, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Workers, Unannounced, testing::Values(1, 2),
                         [](const auto& each) { return each.param == 1 ? "One" : "Two"; });

TEST(Suspend, HoldsBackAJobThatWaits) {
  World world(1, {"a"});
  world.job.spec.suspend = true;
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSuspended);
  EXPECT_TRUE(world.starts.empty());
}

TEST(Suspend, OfAnInvalidJobSaysWhatWouldKeepItFromRunning) {
  World world(1, {"a"});
  world.job.spec.suspend = true;
  world.job.spec.gpus = 0;
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSuspended);
  EXPECT_EQ(world.job.status.reason, reason::kSuspended);
  EXPECT_THAT(world.job.status.message, testing::HasSubstr("spec.gpus must be at least 1"));
  EXPECT_EQ(world.condition("Stalled").status, "False") << "nobody has to act";
  EXPECT_TRUE(world.has_event(reason::kInvalidSpec));
  world.change_spec([](auto& spec) { spec.suspend = false; });
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kInvalid);
  EXPECT_EQ(world.condition("Stalled").status, "True");
  world.change_spec([](auto& spec) { spec.suspend = true; });
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSuspended);
  world.change_spec([](auto& spec) {
    spec.suspend = false;
    spec.gpus = 1;
  });
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
}

TEST(SpecChanged, AfterTheEndIsToldOnceAndRunsNothing) {
  World world(1, {"a"});
  ASSERT_TRUE(world.run());
  ASSERT_EQ(world.job.status.phase, phase::kSucceeded);
  const auto told = [&] {
    return std::count(world.events.begin(), world.events.end(), reason::kSpecChanged);
  };
  for (const int change : {1, 2}) {
    const auto writes = world.writes;
    world.change_spec([](auto& spec) { ++spec.backoff_limit; });
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.writes, writes + 1);
    EXPECT_EQ(told(), change);
    EXPECT_EQ(world.job.status.observed_generation, world.job.metadata.generation);
    EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
    EXPECT_EQ(world.job.status.reason, reason::kCompleted);
    EXPECT_EQ(world.condition("Complete").status, "True");
    EXPECT_THAT(world.job.status.message,
                testing::MatchesRegex("the spec was changed after.*How it ended: all workers succeeded"));
  }
  EXPECT_EQ(world.job.status.attempts, 1);
}

class InEachState : public testing::TestWithParam<const char*> {
 protected:
  // Returns a world whose job has just reached this state.
  World arrive() {
    World world = endless(2, {"a", "b"});
    const std::string wanted = GetParam();
    if (wanted == state::kRestarting) {
      world.ending = [](std::int64_t attempt, std::int64_t) {
        return attempt == 0 ? Ending::kCrash : Ending::kNever;
      };
    }
    if (wanted == state::kReleasing) {
      world.ending = [](std::int64_t, std::int64_t) { return Ending::kSuccess; };
    }
    if (wanted == state::kRunning) {
      EXPECT_TRUE(world.run([&] { return world.running(); }));
    } else {
      stop_in(world, wanted);
    }
    return world;
  }
};

TEST_P(InEachState, DeletionLeavesNothing) {
  World world = arrive();
  world.delete_job();
  ASSERT_TRUE(world.run([&] { return !world.job_exists && world.pods.empty(); }));
  expect_nothing_left(world);
}

TEST_P(InEachState, SuspensionLeavesNothing) {
  World world = arrive();
  world.change_spec([](auto& spec) { spec.suspend = true; });
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase,
            GetParam() == std::string(state::kReleasing) ? phase::kSucceeded : phase::kSuspended);
  expect_nothing_left(world);
}

TEST_P(InEachState, TheDeadlineEndsTheJob) {
  World world = arrive();
  const std::string here = GetParam();
  world.change_spec([](auto& spec) { spec.active_deadline_seconds = 100; });
  const bool waits = here == state::kTaking;  // the deadline starts when the nodes are held
  if (!waits) world.now += std::chrono::seconds(200);
  ASSERT_TRUE(world.run());
  if (here == state::kReleasing) {
    EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  } else {
    EXPECT_EQ(world.job.status.phase, phase::kFailed);
    EXPECT_EQ(world.job.status.reason, reason::kDeadlineExceeded);
  }
  expect_nothing_left(world);
}

INSTANTIATE_TEST_SUITE_P(States, InEachState,
                         testing::Values(state::kTaking, state::kHeld, state::kRunning, state::kRestarting,
                                         state::kReleasing),
                         [](const auto& each) { return std::string(each.param); });

TEST(Deletion, OfAQueuedJobIsImmediate) {
  World world(5, {"a"});
  ASSERT_TRUE(world.run());
  world.delete_job();
  EXPECT_FALSE(world.job_exists);
}

TEST(Deletion, OfAFinishedJobIsImmediate) {
  World world(1, {"a"});
  ASSERT_TRUE(world.run());
  world.delete_job();
  ASSERT_TRUE(world.run([&] { return !world.job_exists; }));
  expect_nothing_left(world);
}

TEST(StartTimeout, FailsTheJobWhenWorkersStayPending) {
  World world(2, {"a", "b"});
  world.scheduler_works = false;
  world.job.spec.start_timeout_seconds = 120;
  const auto begin = world.now;
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kFailed);
  EXPECT_EQ(world.job.status.reason, reason::kStartTimeout);
  EXPECT_GE(world.now - begin, std::chrono::seconds(119));
  EXPECT_EQ(world.job.status.failures, 0);
  expect_nothing_left(world);
}

class ChangedSpec : public testing::TestWithParam<const char*> {};

TEST_P(ChangedSpec, BeforeTheWorkersStartQueuesTheJobAgain) {
  World world(2, {"a", "b", "c"});
  stop_in(world, GetParam());
  world.change_spec([](auto& spec) { spec.gpus = 3; });
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.job.status.workers.total, 3);
  EXPECT_EQ(world.starts.size(), 3U);
  EXPECT_TRUE(world.has_event(reason::kSpecChanged));
  expect_nothing_left(world);
}

INSTANTIATE_TEST_SUITE_P(States, ChangedSpec, testing::Values(state::kTaking, state::kHeld),
                         [](const auto& each) { return std::string(each.param); });

TEST(ChangedSpecWhileRunning, StallsTheJobUntilItIsChangedBack) {
  World world = endless(1, {"a"});
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  const auto before = world.job.spec.pod_template;
  world.change_spec([](auto& spec) {
    spec.pod_template.text =
        R"({"spec":{"containers":[{"name":"train","image":"new","command":["python","train.py"]}]}})";
  });
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.condition("Stalled").status, "True");
  EXPECT_EQ(world.condition("Stalled").reason, reason::kSpecChanged);
  EXPECT_EQ(world.job.status.phase, phase::kRunning);
  EXPECT_EQ(world.starts.size(), 1U);
  world.change_spec([&](auto& spec) { spec.pod_template = before; });
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.condition("Stalled").status, "False");
  EXPECT_NE(world.job.status.reason, reason::kSpecChanged);
}

TEST(InvalidSpec, StallsAndClears) {
  World world(1, {"a"});
  world.job.spec.gpus_per_worker = 0;
  world.run([&] { return world.condition("Stalled").status == "True"; });
  EXPECT_EQ(world.job.status.reason, reason::kInvalidSpec);
  world.change_spec([](auto& spec) { spec.gpus_per_worker = 1; });
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.condition("Stalled").status, "False");
}

}  // namespace
}  // namespace gpupool::planning
