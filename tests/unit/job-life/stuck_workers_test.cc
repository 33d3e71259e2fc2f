// SPDX-License-Identifier: Apache-2.0
// Workers that only another node, or a change of the cluster, can help.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/reasons.h"
#include "tests/unit/job-life/world.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using std::chrono::seconds;
using test::World;
using testing::HasSubstr;
using testing::IsEmpty;
namespace phase = api::phase;
namespace reason = api::reason;

constexpr char kNoClaim[] = "0/3 nodes are available: persistentvolumeclaim \"data\" not found";

TEST(StuckWorkers, GiveTheirNodesBackWithinSecondsAndAreNotCharged) {
  for (const std::int64_t gpus : {1, 2}) {
    World world(gpus, {"a", "b", "c"});
    world.job.spec.backoff_limit = 0;
    world.scheduler_works = false;
    world.scheduler_says = kNoClaim;
    const auto begin = world.now;
    ASSERT_TRUE(
        world.run([&] { return world.job.status.phase == phase::kQueued && world.job.status.attempts > 0; }));
    EXPECT_LE(world.now - begin, seconds(20));
    EXPECT_GE(world.now - begin, seconds(9));
    EXPECT_EQ(world.job.status.reason, reason::kPlacementRefused);
    EXPECT_THAT(world.job.status.message, HasSubstr(kNoClaim));
    EXPECT_THAT(world.tainted(), IsEmpty());
    EXPECT_EQ(world.job.status.failures, 0);
    world.scheduler_works = true;
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
    EXPECT_EQ(world.job.status.failures, 0);
    EXPECT_THAT(world.broken, IsEmpty());
  }
}

TEST(StuckWorkers, AreTriedAgainEverLater) {
  World world(1, {"a"});
  world.scheduler_works = false;
  world.scheduler_says = kNoClaim;
  const auto begin = world.now;
  ASSERT_TRUE(world.run([&] { return world.job.status.attempts == 5; }));
  EXPECT_GE(world.now - begin, seconds(2 + 4 + 8 + 16 + 4 * 9));
}

TEST(StuckWorkers, TheSchedulerMayBeLate) {
  World world(2, {"a", "b"});
  world.scheduler_works = false;
  world.scheduler_says = "0/2 nodes are available: 2 node(s) didn't match Pod's node affinity/selector";
  ASSERT_TRUE(world.run([&] { return world.job.status.message.find("Unschedulable") != std::string::npos; }));
  world.scheduler_works = true;
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.attempts, 1);
  EXPECT_FALSE(world.has_event(reason::kPlacementRefused));
}

constexpr char kNoConfigMap[] =
    "MountVolume.SetUp failed for volume \"settings\" : configmap \"x\" not found";

TEST(StuckWorkers, OfAVolumeThatDoesNotExistGiveTheirNodesBack) {
  for (const std::int64_t gpus : {1, 2}) {
    World world(gpus, {"a", "b"});
    world.job.spec.backoff_limit = 0;
    world.volumes_missing = true;
    world.mounts = {.asked = true, .message = kNoConfigMap, .missing = true};
    const auto begin = world.now;
    ASSERT_TRUE(
        world.run([&] { return world.job.status.phase == phase::kQueued && world.job.status.attempts > 0; }));
    EXPECT_LE(world.now - begin, seconds(20));
    EXPECT_EQ(world.job.status.reason, reason::kPlacementRefused);
    EXPECT_THAT(world.job.status.message, HasSubstr(kNoConfigMap));
    EXPECT_THAT(world.tainted(), IsEmpty());
    world.volumes_missing = false;
    ASSERT_TRUE(world.run());
    EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
    EXPECT_EQ(world.job.status.failures, 0);
    EXPECT_THAT(world.broken, IsEmpty());
  }
}

TEST(StuckWorkers, OfAVolumeThatIsOnlyLateGoOnAndSaySo) {
  World world(1, {"a"});
  world.volumes_missing = true;
  world.mounts = {.asked = true, .message = "timed out waiting for the condition", .missing = false};
  ASSERT_TRUE(
      world.run([&] { return world.job.status.message == "rank 0: timed out waiting for the condition"; }));
  world.volumes_missing = false;
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.attempts, 1);
}

TEST(StuckWorkers, AreAskedForEverMoreRarely) {
  World world(1, {"a"});
  world.volumes_missing = true;
  ASSERT_TRUE(world.run([&] { return world.job.status.reason == reason::kStartTimeout; }));
  EXPECT_EQ(world.mounts_asked, 6) << "after 10, 20, 40, 80, 160 and 320 s of 600";
}

}  // namespace
}  // namespace gpupool::planning
