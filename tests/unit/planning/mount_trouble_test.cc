// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/mount_trouble.h"

#include <gtest/gtest.h>

namespace gpupool::planning {
namespace {

api::PodEvent event_of(const char* time, const char* message) { return {{}, message, time}; }

TEST(MountTrouble, IsTheLastThatTheKubeletSays) {
  EXPECT_EQ(mount_trouble({}).message, "");
  EXPECT_TRUE(mount_trouble({}).asked);
  const auto late = event_of("2026-01-01T00:00:20Z", "failed to sync configmap cache: timed out");
  const auto early = event_of("2026-01-01T00:00:10Z", "configmap \"x\" not found");
  EXPECT_EQ(mount_trouble({late, early}).message, late.message);
  EXPECT_FALSE(mount_trouble({late, early}).missing);
  const auto same = event_of("2026-01-01T00:00:20Z", "configmap \"x\" not found");
  EXPECT_TRUE(mount_trouble({late, same}).missing);
  EXPECT_TRUE(mount_trouble({same, late}).missing);
}

TEST(MountTrouble, TellsWhatDoesNotExistFromWhatIsLate) {
  const auto missing = [](const char* message) { return mount_trouble({event_of("", message)}).missing; };
  EXPECT_TRUE(missing("MountVolume.SetUp failed for volume \"v\" : configmap \"x\" not found"));
  EXPECT_TRUE(missing("MountVolume.SetUp failed for volume \"v\" : secret \"x\" not found"));
  EXPECT_TRUE(missing("MountVolume.SetUp failed for volume \"v\" : references non-existent config key: k"));
  EXPECT_TRUE(
      missing("MountVolume.NewMounter initialization failed for volume \"v\" : path \"/x\" does not exist"));
  EXPECT_FALSE(missing(
      "Unable to attach or mount volumes: unmounted volumes=[v]: timed out waiting for the condition"));
  EXPECT_FALSE(missing("MountVolume.SetUp failed for volume \"v\" : object \"ns\"/\"x\" not registered"));
}

TEST(MountTrouble, IsNotLookedForWithoutANodeOrWithAReadySandbox) {
  api::Pod pod;
  EXPECT_FALSE(may_wait_for_volumes(pod));
  pod.spec.node_name = "a";
  EXPECT_TRUE(may_wait_for_volumes(pod));
  pod.status.conditions = {{"PodReadyToStartContainers", "False", "", ""}};
  EXPECT_TRUE(may_wait_for_volumes(pod));
  pod.status.conditions = {{"PodReadyToStartContainers", "True", "", ""}};
  EXPECT_FALSE(may_wait_for_volumes(pod));
}

}  // namespace
}  // namespace gpupool::planning
