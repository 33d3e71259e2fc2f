// SPDX-License-Identifier: Apache-2.0
// What happens to a worker, and the result for the job: one table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core/workload.h"
#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/plan_job.h"
#include "tests/unit/job-life/world.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using test::Ending;
using test::World;
using testing::IsEmpty;
namespace phase = api::phase;
namespace reason = api::reason;

struct Fate {
  const char* name;
  Ending ending;  // of rank 0 in attempt 0; the other ranks run until they are stopped
  std::function<void(World&)> happens = {};  // after all workers run
  std::string ends = phase::kSucceeded;
  std::string tells = reason::kCompleted;  // reason of the expected event
  std::int64_t attempts = 2;
  std::int64_t failures = 0;
};

void delete_children(World& world, const std::string& kind) {
  std::erase_if(world.children, [&](const auto& entry) { return entry.second.type->kind == kind; });
}

std::vector<Fate> fates() {
  const auto delete_workload = [](World& world) {
    delete_children(world, "StatefulSet");
    delete_children(world, "Job");
  };
  return {
      {"ExitZero", Ending::kSuccess, {}, phase::kSucceeded, reason::kCompleted, 1},
      {"ExitN", Ending::kCrash, {}, phase::kSucceeded, reason::kWorkerFailed, 2, 1},
      {"OutOfMemory", Ending::kOutOfMemory, {}, phase::kSucceeded, reason::kWorkerFailed, 2, 1},
      {"Evicted", Ending::kEvicted, {}, phase::kSucceeded, reason::kWorkerLost},
      {"Preempted", Ending::kPreempted, {}, phase::kSucceeded, reason::kWorkerLost},
      {"Deleted", Ending::kDeleted, {}, phase::kSucceeded, reason::kWorkerLost},
      {"NodeRebooted", Ending::kRebooted, {}, phase::kSucceeded, reason::kWorkerLost},
      {"WorkloadDeleted", Ending::kNever, delete_workload, phase::kSucceeded, reason::kWorkerLost},
      {"ScaledDown", Ending::kNever, [](World& w) { w.scale(0); }, phase::kSucceeded, reason::kWorkerLost},
      {"ScaledUp", Ending::kNever, [](World& w) { w.scale(5); }, "", "", 1},
      {"ServiceDeleted", Ending::kNever, [](World& w) { delete_children(w, "Service"); }, "", "", 1},
  };
}

class WorkerFate : public testing::TestWithParam<std::tuple<std::size_t, std::int64_t>> {};

TEST_P(WorkerFate, IsJudgedAndActedOn) {
  const auto fate = fates().at(std::get<0>(GetParam()));
  const auto gpus = std::get<1>(GetParam());
  World world(gpus, {"a", "b"});
  bool goes_on = false;
  world.ending = [&](std::int64_t attempt, std::int64_t rank) {
    if (attempt > 0 || fate.ending == Ending::kSuccess) return Ending::kSuccess;
    return rank == 0 && goes_on ? fate.ending : Ending::kNever;
  };
  if (fate.attempts == 1 && fate.ends == phase::kSucceeded) {
    ASSERT_TRUE(world.run());
  } else {
    ASSERT_TRUE(world.run([&] { return world.running(); }));
    goes_on = true;
    if (fate.happens) fate.happens(world);
    ASSERT_TRUE(world.run());
  }
  const auto& status = world.job.status;
  EXPECT_EQ(status.phase, fate.ends.empty() ? phase::kRunning : fate.ends) << status.message;
  EXPECT_EQ(status.attempts, fate.attempts);
  EXPECT_EQ(status.failures, fate.failures);
  EXPECT_TRUE(fate.tells.empty() || world.has_event(fate.tells)) << testing::PrintToString(world.events);
  EXPECT_THAT(world.broken, IsEmpty());
  if (fate.ends.empty()) {
    EXPECT_TRUE(world.has_child(gpus > 1 ? "StatefulSet" : "Job"));
    EXPECT_EQ(world.has_child("Service"), gpus > 1) << "it is made again";
    world.delete_job();
    ASSERT_TRUE(world.run([&] { return !world.job_exists && world.pods.empty(); }));
  }
  EXPECT_THAT(world.tainted(), IsEmpty());
  EXPECT_THAT(world.pods, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, WorkerFate,
                         testing::Combine(testing::Range<std::size_t>(0, fates().size()),
                                          testing::Values<std::int64_t>(1, 2)),
                         [](const auto& each) {
                           return std::string(fates().at(std::get<0>(each.param)).name) +
                                  (std::get<1>(each.param) == 1 ? "_Alone" : "_Gang");
                         });

TEST(WorkerFate, AnImageThatIsGoneEndsTheJobAtItsStartTimeout) {
  for (const std::int64_t gpus : {1, 2}) {
    World world(gpus, {"a", "b"});
    world.image_gone = true;
    world.job.spec.start_timeout_seconds = 60;
    ASSERT_TRUE(
        world.run([&] { return world.job.status.message.find("ErrImagePull") != std::string::npos; }));
    EXPECT_EQ(world.job.status.phase, phase::kStarting);
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.job.status.phase, phase::kFailed);
    EXPECT_EQ(world.job.status.reason, reason::kStartTimeout);
    EXPECT_EQ(world.job.status.failures, 0);
    EXPECT_THAT(world.tainted(), IsEmpty());
    EXPECT_THAT(world.broken, IsEmpty());
  }
}

TEST(LostWorkers, FollowEachOtherEverMoreSlowly) {
  for (const std::int64_t gpus : {1, 2}) {
    World world(gpus, {"a", "b"});
    std::vector<base::WallTime> begun;
    world.ending = [&](std::int64_t attempt, std::int64_t rank) {
      if (rank == 0) begun.push_back(world.now);
      return attempt < 12 ? Ending::kDeleted : Ending::kSuccess;
    };
    ASSERT_TRUE(world.run([&] { return world.job.finished(); }));
    ASSERT_EQ(begun.size(), 13U);
    EXPECT_EQ(world.job.status.failures, 0) << "never charged";
    for (std::size_t i = 1; i < begun.size(); ++i) {
      const auto between = begun[i] - begun[i - 1];
      EXPECT_GE(between, std::chrono::seconds(std::min(300, 1 << std::min<std::size_t>(i, 9))) -
                             std::chrono::seconds(2));
      EXPECT_LE(between, std::chrono::seconds(310));
    }
    EXPECT_THAT(world.broken, IsEmpty());
  }
}

TEST(LostWorkers, ThatHadRunForLongStartAgainAtOnce) {
  World world(2, {"a", "b"});
  bool stop = false;
  world.ending = [&](std::int64_t, std::int64_t) { return stop ? Ending::kDeleted : Ending::kNever; };
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  for (int i = 0; i < 12; ++i) {
    world.now += std::chrono::hours(1);
    stop = true;
    ASSERT_TRUE(world.run([&] { return world.job.status.lease->state == api::lease_state::kRestarting; }));
    EXPECT_FALSE(world.job.status.lease->not_before.has_value());
    stop = false;
    ASSERT_TRUE(world.run([&] { return world.running(); }));
  }
}

TEST(LostWorkers, AStampAheadOfTheClockDelaysNoLonger) {
  World world(1, {"a"});
  world.ending = [&](std::int64_t attempt, std::int64_t) {
    return attempt == 0 ? Ending::kDeleted : Ending::kSuccess;
  };
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.job.status.lease->since = world.now + std::chrono::minutes(10);
  ASSERT_TRUE(world.run([&] { return world.job.status.lease->state == api::lease_state::kRestarting; }));
  EXPECT_LE(*world.job.status.lease->not_before, world.now + std::chrono::seconds(3));
}

TEST(LostWorkers, ForNoKnownReasonAreForgivenThreeTimes) {
  for (const std::int64_t gpus : {1, 2}) {
    World world(gpus, {"a", "b"});
    world.job.spec.backoff_limit = 1;
    world.ending = [](std::int64_t, std::int64_t rank) {
      return rank == 0 ? Ending::kStopped : Ending::kNever;
    };
    ASSERT_TRUE(world.run([&] { return world.job.finished(); })) << "it would go on for ever";
    EXPECT_EQ(world.job.status.phase, phase::kFailed);
    EXPECT_EQ(world.job.status.attempts, 5) << "three that are forgiven, and two that are charged";
    EXPECT_EQ(world.job.status.failures, 2);
    EXPECT_THAT(world.tainted(), IsEmpty());
    EXPECT_THAT(world.broken, IsEmpty());
  }
}

TEST(UnprovenWorkers, AreWaitedForUntilTheirResultIsSeenAgain) {
  World world(2, {"a", "b"});
  world.forgetful = true;
  world.ending = [](std::int64_t, std::int64_t rank) {
    return rank == 0 ? Ending::kSuccess : Ending::kNever;
  };
  ASSERT_TRUE(world.run([&] { return world.job.status.reason == reason::kWaitingForResult; }));
  EXPECT_TRUE(world.has_event(reason::kWaitingForResult));
  EXPECT_THAT(world.job.status.message, testing::HasSubstr("rank 0 was started again"));
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kSuccess; };
  world.forgetful = false;
  ASSERT_TRUE(world.run([&] { return world.job.finished(); }));
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.job.status.attempts, 1);
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(UnprovenWorkers, AreGivenUpUnchargedAfterTenMinutes) {
  World world(2, {"a", "b"});
  world.forgetful = true;
  world.ending = [](std::int64_t attempt, std::int64_t rank) {
    return attempt == 0 && rank == 0 ? Ending::kSuccess : Ending::kNever;
  };
  ASSERT_TRUE(world.run([&] { return world.job.status.attempts == 2; }));
  EXPECT_GE(world.now, test::at(1000 + 600));
  EXPECT_EQ(world.job.status.failures, 0);
  EXPECT_TRUE(world.has_event(reason::kWorkerLost));
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(RefusedPods, AreKnownBeforeTheFirstNodeIsTaken) {
  for (const std::int64_t gpus : {1, 2}) {
    World world(gpus, {"a", "b"});
    world.refused_first = api::Problem{reason::kQuotaExceeded, "pods \"x\" is forbidden: exceeded quota"};
    ASSERT_TRUE(world.run([&] { return world.condition("Stalled").status == "True"; }));
    EXPECT_EQ(world.job.status.reason, reason::kQuotaExceeded);
    world.run([&] { return world.now > test::at(1000 + 60); });
    EXPECT_EQ(world.job.status.lease_sequence, 0) << "no node was taken";
    world.refused_first.reset();
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
    EXPECT_EQ(world.job.status.lease_sequence, 1);
  }
}

TEST(RefusedPods, GiveTheNodesBackWithinSecondsAndSayWhy) {
  for (const std::int64_t gpus : {1, 2}) {
    World world(gpus, {"a", "b"});
    world.pods_blocked = api::Problem{reason::kForbidden, "pods \"x\" is forbidden: exceeded quota"};
    ASSERT_TRUE(
        world.run([&] { return world.condition("Stalled").status == "True" && !world.job.status.lease; }));
    EXPECT_LE(world.now, test::at(1000 + 10));
    EXPECT_EQ(world.job.status.reason, reason::kForbidden);
    EXPECT_THAT(world.job.status.message, testing::HasSubstr("exceeded quota"));
    EXPECT_EQ(world.job.status.failures, 0);
    EXPECT_THAT(world.tainted(), IsEmpty());
    const auto sequence = world.job.status.lease_sequence;
    world.run([&] { return world.now > test::at(1000 + 120); });
    EXPECT_EQ(world.job.status.lease_sequence, sequence)
        << "no node is taken to find out that it is still so";
    world.pods_blocked.reset();
    ASSERT_TRUE(world.run([&] { return world.job.finished(); }));
    EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
    EXPECT_THAT(world.broken, IsEmpty());
  }
}

TEST(RefusedWorkers, OfANamespaceThatGoesHoldNothing) {
  for (const std::int64_t gpus : {1, 2}) {
    World world(gpus, {"a", "b"});
    world.children_blocked = api::Problem{reason::kNamespaceTerminating, "because it is being terminated"};
    ASSERT_TRUE(
        world.run([&] { return world.condition("Stalled").status == "True" && !world.job.status.lease; }));
    EXPECT_THAT(world.tainted(), IsEmpty());
    const auto writes = world.writes;
    world.now += std::chrono::hours(2);
    world.run([&] { return world.now > test::at(1000 + 9000); });
    EXPECT_EQ(world.writes, writes) << "nothing is tried: a namespace does not come back";
    world.delete_job();
    ASSERT_TRUE(world.run([&] { return !world.job_exists; }));
    EXPECT_THAT(world.broken, IsEmpty());
  }
}

TEST(RefusedWorkers, ThatCannotBeCreatedHoldNodesForHalfAMinute) {
  World world(2, {"a", "b"});
  world.late_children = 1000;
  ASSERT_TRUE(
      world.run([&] { return world.condition("Stalled").status == "True" && !world.job.status.lease; }));
  EXPECT_EQ(world.job.status.reason, reason::kCreateFailed);
  EXPECT_GE(world.now, test::at(1000 + 30));
  EXPECT_LE(world.now, test::at(1000 + 40));
  EXPECT_THAT(world.tainted(), IsEmpty());
  world.late_children = 0;
  ASSERT_TRUE(world.run([&] { return world.job.finished(); }));
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(RefusedWorkers, ThatCameToAnotherNodeGiveTheirsBack) {
  World world(1, {"a"});
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kNever; };
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  auto moved = *world.pods.begin()->second;
  moved.spec.node_name = "elsewhere";
  world.nodes["elsewhere"] = test::make_node("elsewhere", 0);
  world.pods.begin()->second = test::share(moved);
  ASSERT_TRUE(
      world.run([&] { return world.condition("Stalled").status == "True" && !world.job.status.lease; }));
  EXPECT_EQ(world.job.status.reason, reason::kWorkerChanged);
  EXPECT_THAT(world.job.status.message, testing::HasSubstr("elsewhere"));
  EXPECT_THAT(world.tainted(), IsEmpty());
}

// For a pod that it never started, a kubelet before 1.27 reports only grace period 0.
TEST(OldKubelets, AreBelievedOnceTheirNodeHasBeenReadyForAMinute) {
  auto job = test::make_job();
  job.metadata.finalizers = {api::kLease};
  job.status.lease = test::make_lease(job, api::lease_state::kReleasing, {"n0"});
  job.status.lease->outcome = api::outcome::kFailed;
  const auto frees = [&](const std::string& version, bool ready, base::Duration waited) {
    auto node = test::make_node("n0");
    node.status.node_info.kubelet_version = version;
    node.metadata.labels[api::kNodeLeaseLabel] = "uid-job.1";
    node.spec.taints = {{api::kLease, "uid-job.1", api::kNoSchedule}};
    if (!ready) node.status.conditions.back().status = "Unknown";
    Observation seen{.job = job, .pods = {test::share(test::deleted(test::make_pod(), 0))}};
    seen.node = [&](const std::string&) { return test::share(node); };
    seen.unconfirmed_for = [&](const api::Pod&, bool is_ready) {
      return is_ready ? waited : base::Duration::zero();
    };
    seen.now = test::at(101);
    seen.live = true;
    return std::holds_alternative<step::FreeNodes>(plan_job(seen));
  };
  using std::chrono::seconds;
  EXPECT_TRUE(frees("v1.20.2", true, seconds(60)));
  EXPECT_FALSE(frees("v1.20.2", true, seconds(59)));
  EXPECT_FALSE(frees("v1.20.2", false, seconds(60)));
  EXPECT_FALSE(frees("v1.36.2", true, seconds(600))) << "from 1.27 on it writes a terminal phase";
  EXPECT_FALSE(frees("v1.27.0-eks-1", true, seconds(600)));
}

TEST(Guard, IsPutBackWhenSomebodyTakesItOff) {
  World world(2, {"a", "b"});
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kNever; };
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.job.metadata.finalizers = {"somebody/else"};
  ASSERT_TRUE(world.run([&] { return world.job.metadata.finalizers.size() == 2; }));
}

}  // namespace
}  // namespace gpupool::planning
