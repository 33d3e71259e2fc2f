// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/device-plugin/allocation/resources.h"

namespace gpupool::allocation {
namespace {

using test::machine;
using test::resource_of;
using test::slice;
using test::sliced;
using test::uuid;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;
using testing::StartsWith;
using testing::UnorderedElementsAre;

Grant granted(const slices::Resource& resource, const std::vector<std::string>& ids,
              const settings::Settings& settings = {}, const NodePaths& paths = {}) {
  auto grant = allocate(resource, ids, settings, paths);
  EXPECT_TRUE(grant.has_value()) << grant.error().message;
  return grant ? *grant : Grant{};
}

TEST(Allocate, OneSliceIsOneLimitedDevice) {
  const Grant grant = granted(sliced(3, 10), {slice(1, 4)});
  EXPECT_THAT(grant.environment,
              UnorderedElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", uuid(1)),
                                   Pair("CUDA_DEVICE_MEMORY_LIMIT_0", "1637m"),
                                   Pair("CUDA_DEVICE_SM_LIMIT", "10"), Pair("CUDA_DEVICE_SM_LIMIT_0", "10"),
                                   Pair("GPUPOOL_LIMITS", "/etc/gpupool/limits")));
  ASSERT_EQ(grant.files.size(), 1U);
  EXPECT_THAT(grant.files[0].name, StartsWith("limits-"));
  EXPECT_THAT(grant.mounts, ElementsAre(Mount{"/etc/gpupool/limits",
                                              "/var/lib/gpupool/limits/" + grant.files[0].name, true}));
  EXPECT_THAT(grant.devices, IsEmpty());
  EXPECT_THAT(grant.cdi_names, IsEmpty());
  EXPECT_THAT(grant.annotations, IsEmpty());
}

TEST(Allocate, SlicesOfOneGpuAddUp) {
  const Grant grant = granted(sliced(3, 10), {slice(2, 7), slice(2, 0), slice(2, 3)});
  EXPECT_EQ(grant.environment.at("NVIDIA_VISIBLE_DEVICES"), uuid(2));
  EXPECT_EQ(grant.environment.at("CUDA_DEVICE_MEMORY_LIMIT_0"), "4911m");
  EXPECT_EQ(grant.environment.at("CUDA_DEVICE_SM_LIMIT"), "30");
  EXPECT_FALSE(grant.environment.contains("CUDA_DEVICE_MEMORY_LIMIT_1"));
  EXPECT_THAT(grant.files[0].content, HasSubstr("device 0 " + uuid(2) + " 4911 30 0,3,7\n"));
}

TEST(Allocate, SlicesOfSeveralGpusHaveLimitsOfTheirOwnInTheOrderOfTheIndex) {
  const Grant grant = granted(sliced(3, 2), {slice(2, 0), slice(0, 1), slice(0, 0)});
  EXPECT_EQ(grant.environment.at("NVIDIA_VISIBLE_DEVICES"), uuid(0) + "," + uuid(2));
  EXPECT_EQ(grant.environment.at("CUDA_DEVICE_MEMORY_LIMIT_0"), "16376m");
  EXPECT_EQ(grant.environment.at("CUDA_DEVICE_MEMORY_LIMIT_1"), "8188m");
  EXPECT_EQ(grant.environment.at("CUDA_DEVICE_SM_LIMIT_0"), "100");
  EXPECT_EQ(grant.environment.at("CUDA_DEVICE_SM_LIMIT_1"), "50");
  EXPECT_EQ(grant.environment.at("CUDA_DEVICE_SM_LIMIT"), "50");
}

TEST(Allocate, WholeGpusHaveNoLimits) {
  const Grant grant = granted(sliced(3, 1), {uuid(2), uuid(0)});
  EXPECT_THAT(grant.environment, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", uuid(0) + "," + uuid(2))));
  EXPECT_THAT(grant.files, IsEmpty());
  EXPECT_THAT(grant.mounts, IsEmpty());
}

TEST(Allocate, AWholeGpuBesideASliceIsNotLimitedWithIt) {
  settings::Settings settings = slices::test::split(2);
  settings.resource_name = "example.com/gpu";
  settings.policy = settings::Policy::kDistinct;
  settings.overrides = {test::split_gpu(0, 1)};
  const Grant grant = granted(resource_of(machine(2), settings), {uuid(0), slice(1, 0)});
  EXPECT_EQ(grant.environment.at("NVIDIA_VISIBLE_DEVICES"), uuid(0) + "," + uuid(1));
  EXPECT_FALSE(grant.environment.contains("CUDA_DEVICE_MEMORY_LIMIT_0"));
  EXPECT_EQ(grant.environment.at("CUDA_DEVICE_MEMORY_LIMIT_1"), "8188m");
  EXPECT_EQ(grant.environment.at("CUDA_DEVICE_SM_LIMIT_1"), "50");
  EXPECT_FALSE(grant.environment.contains("CUDA_DEVICE_SM_LIMIT"));
  EXPECT_THAT(grant.files[0].content,
              HasSubstr("device 0 " + uuid(0) + " - - 0\ndevice 1 " + uuid(1) + " 8188 50 0\n"));
}

// More than all cores of a GPU is not to be had, however much is promised.
TEST(Allocate, OverCommittedCoresEndAtAllOfThem) {
  const slices::Resource resource = resource_of(machine(1), slices::test::split(2, 2000, 3000));
  const Grant grant = granted(resource, {slice(0, 0), slice(0, 1)});
  EXPECT_EQ(grant.environment.at("CUDA_DEVICE_MEMORY_LIMIT_0"), "32752m");
  EXPECT_EQ(grant.environment.at("CUDA_DEVICE_SM_LIMIT"), "100");
  EXPECT_EQ(granted(resource, {slice(0, 1)}).environment.at("CUDA_DEVICE_SM_LIMIT"), "100");
}

TEST(Allocate, MigInstancesAreDevicesOfTheirOwnWherever) {
  inventory::Inventory inventory = machine(2);
  settings::Settings settings = slices::test::split(10);
  settings.mig = true;
  for (auto& gpu : inventory.gpus) {
    gpu.mig_enabled = true;
    const std::string number = std::to_string(gpu.index);
    gpu.mig_instances = {{"MIG-z" + number, "1g.10gb", 9728, 1, 0},
                         {"MIG-a" + number, "1g.10gb", 9728, 2, 0}};
  }
  const slices::Resource resource = resource_of(inventory, settings);
  const Grant grant = granted(resource, {"MIG-a1", "MIG-a0", "MIG-z0"});
  EXPECT_THAT(grant.environment, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "MIG-z0,MIG-a0,MIG-a1")));
  EXPECT_THAT(grant.files, IsEmpty());
}

TEST(Allocate, WithoutEnvironmentTheRuntimeIsToldToAddNothing) {
  settings::Settings settings;
  settings.passing = {
      .environment = false, .device_nodes = false, .cdi_devices = true, .cdi_annotations = false};
  EXPECT_EQ(granted(sliced(1, 2), {slice(0, 0)}, settings).environment.at("NVIDIA_VISIBLE_DEVICES"), "void");
}

}  // namespace
}  // namespace gpupool::allocation
