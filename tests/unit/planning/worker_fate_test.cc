// What happens to a worker, and what becomes of it: one table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core/workload.h"
#include "api/v1alpha1/reasons.h"
#include "tests/unit/planning/world.h"

namespace gpupool::planning {
namespace {

using test::Ending;
using test::World;
using testing::IsEmpty;
namespace phase = api::phase;
namespace reason = api::reason;

struct Fate {
  const char* name;
  Ending ending;  // of rank 0 in attempt 0; the others go on until they are stopped
  std::function<void(World&)> happens = {};  // once all workers run
  std::string ends = phase::kSucceeded;
  std::string tells = reason::kCompleted;  // an event that says it
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

}  // namespace
}  // namespace gpupool::planning
