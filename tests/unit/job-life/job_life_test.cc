// SPDX-License-Identifier: Apache-2.0
// One job from submission to end, without faults.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/reasons.h"
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
using std::chrono::milliseconds;
namespace reason = api::reason;

TEST(JobLife, OneGpuSucceeds) {
  World world(1, {"a", "b"});
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.job.status.reason, reason::kCompleted);
  EXPECT_EQ(world.condition("Complete").status, "True");
  EXPECT_EQ(world.job.status.attempts, 1);
  EXPECT_EQ(world.job.status.failures, 0);
  EXPECT_EQ(world.job.status.node_names, "a");
  EXPECT_EQ(world.job.status.workers, (api::WorkerCounts{1, 0, 1}));
  EXPECT_EQ(world.job.status.master, "127.0.0.1");
  EXPECT_TRUE(world.job.status.completion_time.has_value());
  EXPECT_EQ(world.starts.size(), 1U);
  expect_nothing_left(world);
}

TEST(JobLife, ASuccessKeepsItsLastLines) {
  for (const int gpus : {1, 2}) {
    World world(gpus, {"a", "b"});
    world.more_result = R"(,"tail":"epoch 9\nloss 0.1")";
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.job.status.message, "all workers succeeded; last lines:\nepoch 9\nloss 0.1");
    EXPECT_EQ(world.condition("Complete").message, "all workers succeeded");
  }
}

std::vector<std::string> lease_states(const World& world) {
  std::vector<std::string> states;
  for (const auto& status : world.history) {
    const std::string now = status.lease ? status.lease->state.string() : "none";
    if (states.empty() || states.back() != now) states.push_back(now);
  }
  return states;
}

TEST(JobLife, OneNodeIsTakenAndRunOnInOneGo) {
  World world(1, {"a"});
  ASSERT_TRUE(world.run());
  EXPECT_THAT(lease_states(world), ElementsAre("Taking", "Running", "Releasing", "none"));
  EXPECT_TRUE(world.history.at(1).start_time.has_value());
  EXPECT_EQ(world.live_looks, 0) << "the success of the only worker proves enough";
  EXPECT_THAT(world.events, ElementsAre(reason::kCompleted));
  EXPECT_EQ(world.writes, 9) << "8 if the job ends before it was seen running";
  EXPECT_EQ(world.succeeded.size(), 1U) << "the Job stays";
  EXPECT_EQ(world.kept.size(), 1U) << "its pod stays for its logs";
}

TEST(JobLife, AWorkerStaysAlsoIfItsPhaseComesAfterItsEnd) {
  for (const auto end : {test::Ending::kSuccess, test::Ending::kCrash}) {
    const bool success = end == test::Ending::kSuccess;
    World world(1, {"a"});
    world.phase_follows = true;
    world.job.spec.backoff_limit = 0;
    world.ending = [end](std::int64_t, std::int64_t) { return end; };
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.job.status.phase, success ? phase::kSucceeded : phase::kFailed);
    EXPECT_EQ(world.succeeded.size() + world.children.size(), 1U) << "the Job stays";
    EXPECT_EQ(world.kept.size(), 1U) << "its pod stays";
    EXPECT_THAT(world.tainted(), testing::IsEmpty());
    EXPECT_THAT(world.broken, testing::IsEmpty());
  }
}

TEST(JobLife, WhatCannotBeMadeAtOnceIsWaitedForInHeld) {
  World world(1, {"a"});
  world.late_children = 3;
  ASSERT_TRUE(world.run());
  EXPECT_THAT(lease_states(world), ElementsAre("Taking", "Held", "Running", "Releasing", "none"));
  EXPECT_TRUE(world.history.at(1).start_time.has_value()) << "the deadline runs while it waits";
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  expect_nothing_left(world);
}

TEST(JobLife, SeveralNodesAreHeldBeforeAnythingRuns) {
  World world(2, {"a", "b"});
  ASSERT_TRUE(world.run());
  EXPECT_THAT(lease_states(world), ElementsAre("Taking", "Held", "Running", "Releasing", "none"));
  EXPECT_EQ(world.live_looks, 0) << "the operator has seen its workers end";
}

// A kubelet shows a launcher that waits for rank 0 as it shows a command.
TEST(JobLife, AGangIsNotSaidToRunAllItsCommands) {
  const auto message_of = [](std::int64_t gpus, const char* rendezvous) {
    World world(gpus, {"a", "b"});
    world.job.spec.rendezvous = rendezvous;
    world.ending = [](std::int64_t, std::int64_t) { return Ending::kNever; };
    EXPECT_TRUE(world.run([&] { return world.running(); }));
    return world.job.status.message;
  };
  EXPECT_EQ(message_of(2, ""),
            "attempt 0 is running; ranks above 0 start their command when rank 0 listens on port 29500");
  EXPECT_EQ(message_of(2, api::rendezvous::kNone), "attempt 0 is running");
  EXPECT_EQ(message_of(1, ""), "attempt 0 is running");
}

TEST(JobLife, GangSucceedsAfterAllItsRanksHave) {
  World world(3, {"a", "b", "c"});
  bool slow = true;
  world.ending = [&](std::int64_t, std::int64_t rank) {
    return rank == 2 && slow ? Ending::kNever : Ending::kSuccess;
  };
  ASSERT_TRUE(world.run([&] { return world.job.status.workers.succeeded == 2; }));
  EXPECT_EQ(world.job.status.phase, phase::kRunning);
  EXPECT_EQ(world.tainted().size(), 3U);
  slow = false;
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.job.status.master, "job-1-0.job-1");
  EXPECT_EQ(world.starts.size(), 3U);
  expect_nothing_left(world);
}

TEST(JobLife, WorkersThatHaveEndedAreCountedNowAndThen) {
  World world(3, {"a", "b", "c"});
  std::int64_t left = 0;  // the first rank that still runs
  world.ending = [&](std::int64_t, std::int64_t rank) {
    return rank < left ? Ending::kSuccess : Ending::kNever;
  };
  ASSERT_TRUE(world.run([&] { return world.job.status.workers.running == 3; }));
  const auto writes = world.history.size();
  const auto running = world.now;
  left = 2;
  ASSERT_TRUE(world.run([&] { return world.history.size() > writes; }));
  EXPECT_EQ(world.job.status.workers.succeeded, 2) << "two ends, one write";
  EXPECT_GE(world.now - running, milliseconds(900)) << "a second after the last write";
  left = 3;
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded) << "the last end is no mere count";
  expect_nothing_left(world);
}

TEST(JobLife, PhasesComeInOrder) {
  World world(2, {"a", "b"});
  ASSERT_TRUE(world.run());
  std::vector<std::string> phases;
  for (const auto& status : world.history) {
    if (phases.empty() || phases.back() != status.phase.string()) phases.push_back(status.phase.string());
  }
  EXPECT_THAT(phases, ElementsAre(phase::kStarting, phase::kRunning, phase::kReleasing, phase::kSucceeded));
}

TEST(JobLife, CrashIsTriedAgainAndCharged) {
  World world(2, {"a", "b"});
  world.ending = [](std::int64_t attempt, std::int64_t rank) {
    return attempt == 0 && rank == 1 ? Ending::kCrash : Ending::kSuccess;
  };
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.job.status.attempts, 2);
  EXPECT_EQ(world.job.status.failures, 1);
  EXPECT_EQ(world.starts.size(), 4U) << "all ranks start again together";
  EXPECT_TRUE(world.has_event(reason::kWorkerFailed));
  expect_nothing_left(world);
}

TEST(JobLife, FailsWhenTheBackoffLimitIsExceeded) {
  World world(1, {"a"});
  world.job.spec.backoff_limit = 2;
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kCrash; };
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kFailed);
  EXPECT_EQ(world.job.status.reason, reason::kBackoffLimitExceeded);
  EXPECT_THAT(world.job.status.message, HasSubstr("exited with code 1"));
  EXPECT_EQ(world.job.status.attempts, 3);
  EXPECT_EQ(world.condition("Failed").status, "True");
  expect_nothing_left(world);
}

TEST(JobLife, NoBackoffMeansOneAttempt) {
  World world(1, {"a"});
  world.job.spec.backoff_limit = 0;
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kCrash; };
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.attempts, 1);
  EXPECT_EQ(world.job.status.phase, phase::kFailed);
}

class LostWorker : public testing::TestWithParam<Ending> {};

TEST_P(LostWorker, IsReplacedAndNotCharged) {
  for (const std::int64_t gpus : {1, 2}) {
    World world(gpus, {"a", "b"});
    world.job.spec.backoff_limit = 0;
    world.ending = [&](std::int64_t attempt, std::int64_t) {
      return attempt < 2 ? GetParam() : Ending::kSuccess;
    };
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
    EXPECT_EQ(world.job.status.attempts, 3);
    EXPECT_EQ(world.job.status.failures, 0);
    EXPECT_TRUE(world.has_event(reason::kWorkerLost));
    expect_nothing_left(world);
  }
}

INSTANTIATE_TEST_SUITE_P(Deleted, LostWorker, testing::Values(Ending::kDeleted));
INSTANTIATE_TEST_SUITE_P(Evicted, LostWorker, testing::Values(Ending::kEvicted));

TEST(JobLife, FinishedJobGoesWhenItsTimeIsOver) {
  World world(1, {"a"});
  world.job.spec.ttl_seconds_after_finished = 60;
  ASSERT_TRUE(world.run([&] { return world.job.finished(); }));
  const auto finished_at = world.now;
  EXPECT_TRUE(world.job_exists);
  ASSERT_TRUE(world.run([&] { return !world.job_exists; }));
  EXPECT_GE(world.now - finished_at, std::chrono::seconds(59));
  expect_nothing_left(world);
}

TEST(JobLife, FinishedJobIsDeletedWithoutAnotherLook) {
  World world(1, {"a"});
  ASSERT_TRUE(world.run());
  world.delete_job();
  ASSERT_TRUE(world.run([&] { return !world.job_exists; }));
  EXPECT_EQ(world.live_looks, 0);
}

TEST(JobLife, NoTimeToLiveMeansForever) {
  World world(1, {"a"});
  ASSERT_TRUE(world.run());
  world.now += std::chrono::hours(10000);
  ASSERT_TRUE(world.run());
  EXPECT_TRUE(world.job_exists);
}

TEST(JobLife, WaitsForItsPool) {
  World world(1, {"a"});
  const auto pool = world.pool;
  world.pool.reset();
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.reason, reason::kPoolNotFound);
  EXPECT_EQ(world.job.status.phase, phase::kInvalid);
  EXPECT_EQ(world.condition("Stalled").status, "True");
  world.pool = pool;
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.condition("Stalled").status, "False");
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
}

TEST(JobLife, SettledJobIsNotWrittenAgain) {
  World world(4, {"a"});
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.reason, reason::kTooLarge);
  const int writes = world.writes;
  for (int i = 0; i < 5; ++i) world.operate();
  EXPECT_EQ(world.writes, writes);
}

}  // namespace
}  // namespace gpupool::planning
