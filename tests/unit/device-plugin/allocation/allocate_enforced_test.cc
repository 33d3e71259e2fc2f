// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/device-plugin/allocation/resources.h"

namespace gpupool::allocation {
namespace {

using settings::Enforce;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

settings::Settings enforcing(std::int64_t count) {
  settings::Settings settings = slices::test::split(count);
  settings.enforcement.enforce = Enforce::kLibrary;
  return settings;
}

NodePaths installed() {
  return {.limits_directory = "/srv/limits/",
          .limiter_directory = "/opt/limiter/1f2e",
          .regions_directory = "/run/regions"};
}

base::Result<Grant> answer(const settings::Settings& settings, const std::vector<std::string>& ids,
                           const NodePaths& paths = installed(), std::int64_t gpus = 2) {
  return allocate(test::resource_of(test::machine(gpus), settings), ids, settings, paths);
}

TEST(AllocateEnforced, TheContainerGetsTheLimiterItsLimitsAndARegion) {
  const auto grant = answer(enforcing(2), {test::slice(0, 1)});
  ASSERT_TRUE(grant.has_value()) << grant.error().message;
  ASSERT_THAT(grant->files, SizeIs(1));
  ASSERT_TRUE(grant->region.has_value());
  const std::string lib = "/usr/local/lib/gpupool/";
  EXPECT_THAT(
      grant->mounts,
      ElementsAre(Mount{"/etc/gpupool/limits", "/srv/limits/" + grant->files[0].name, true},
                  Mount{lib + "libgpupool-vgpu.so", "/opt/limiter/1f2e/libgpupool-vgpu.so", true},
                  Mount{lib + "libgpupool-vgpu-alias.so", "/opt/limiter/1f2e/libgpupool-vgpu-alias.so", true},
                  Mount{lib + "libgpupool-vgpu-nvml.so", "/opt/limiter/1f2e/libgpupool-vgpu-nvml.so", true},
                  Mount{"/etc/ld.so.preload", "/opt/limiter/1f2e/ld.so.preload", true},
                  Mount{"/run/gpupool/region", "/run/regions/" + grant->region->name, false}));
}

// The region's devices are those of the limits file, in its order: the limiter knows them by position.
TEST(AllocateEnforced, TheRegionHasTheDevicesOfTheLimitsFile) {
  const settings::Settings settings = enforcing(2);
  const auto grant = answer(settings, {test::slice(1, 0), test::slice(0, 0), test::slice(1, 1)});
  ASSERT_TRUE(grant.has_value()) << grant.error().message;
  const auto slice_mib = test::resource_of(test::machine(2), settings).slices.front().memory_mib;
  EXPECT_THAT(grant->region->devices, ElementsAre(RegionFile::Device{test::uuid(0), slice_mib},
                                                  RegionFile::Device{test::uuid(1), 2 * slice_mib}));
  EXPECT_THAT(grant->files[0].content, HasSubstr("device 0 " + test::uuid(0)));
  EXPECT_THAT(grant->files[0].content, HasSubstr("device 1 " + test::uuid(1)));
}

TEST(AllocateEnforced, NothingIsMountedWhereNobodyEnforces) {
  const auto grant = answer(slices::test::split(2), {test::slice(0, 0)});
  ASSERT_TRUE(grant.has_value());
  EXPECT_THAT(grant->mounts, SizeIs(1));
  EXPECT_FALSE(grant->region.has_value());
  const auto whole = answer(enforcing(1), {test::uuid(0)});
  ASSERT_TRUE(whole.has_value());
  EXPECT_THAT(whole->mounts, IsEmpty());
}

TEST(AllocateEnforced, WithoutTheLimiterThePodIsRefused) {
  NodePaths paths = installed();
  paths.limiter_directory.clear();
  const auto grant = answer(enforcing(2), {test::slice(0, 0)}, paths);
  ASSERT_FALSE(grant.has_value());
  EXPECT_EQ(grant.error().code, base::ErrorCode::kInvalid);
  EXPECT_THAT(grant.error().message, HasSubstr("not on this node"));
}

// The kubelet mounts the old names when a container restarts, whatever the settings are then.
TEST(AllocateEnforced, NamesFollowFromTheDevicesAndNotFromTheSettings) {
  settings::Settings waits = enforcing(2);
  waits.enforcement.memory_wait_seconds = 30;
  waits.enforcement.context_mib = 512;
  const auto without = answer(enforcing(2), {test::slice(0, 0), test::slice(0, 1)});
  const auto with = answer(waits, {test::slice(0, 1), test::slice(0, 0)});
  ASSERT_TRUE(without && with);
  EXPECT_EQ(without->mounts, with->mounts);
  EXPECT_THAT(with->files[0].content, HasSubstr("\nwait 30\ncontext 512\ncrc32 "));
  EXPECT_THAT(without->files[0].content, Not(HasSubstr("wait")));
  EXPECT_THAT(without->files[0].content, Not(HasSubstr("context")));
  const auto other = answer(waits, {test::slice(0, 0)});
  ASSERT_TRUE(other);
  EXPECT_NE(other->region->name, with->region->name);
  EXPECT_NE(other->files[0].name, with->files[0].name);
}

TEST(AllocateEnforced, AnOverrideChoosesTheNodeOrTheGpu) {
  settings::Settings settings = slices::test::split(2);
  settings::Override override;
  override.match.index = 1;
  override.enforcement.enforce = Enforce::kLibrary;
  settings.overrides = {override};
  EXPECT_FALSE(answer(settings, {test::slice(0, 0)})->region.has_value());
  EXPECT_TRUE(answer(settings, {test::slice(1, 0)})->region.has_value());
}

// One file is for all devices of the container: the shortest wait and the largest context hold.
TEST(AllocateEnforced, GpusThatDifferAgree) {
  settings::Settings settings = enforcing(2);
  settings.enforcement.memory_wait_seconds = 30;
  settings.enforcement.context_mib = 100;
  settings::Override override;
  override.match.index = 1;
  override.enforcement.memory_wait_seconds = 5;
  override.enforcement.context_mib = 700;
  settings.overrides = {override};
  const auto grant = answer(settings, {test::slice(0, 0), test::slice(1, 0), test::slice(1, 1)});
  ASSERT_TRUE(grant.has_value()) << grant.error().message;
  EXPECT_THAT(grant->files[0].content, HasSubstr("\nwait 5\ncontext 700\n"));
}

}  // namespace
}  // namespace gpupool::allocation
