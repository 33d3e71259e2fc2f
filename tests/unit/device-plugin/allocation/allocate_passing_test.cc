// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/device-plugin/allocation/resources.h"

namespace gpupool::allocation {
namespace {

using test::machine;
using test::slice;
using test::sliced;
using test::uuid;
using testing::AllOf;
using testing::ElementsAre;
using testing::MatchesRegex;
using testing::SizeIs;
using testing::StartsWith;

Grant granted(const settings::Settings& settings, const NodePaths& paths = {},
              const slices::Resource& resource = sliced(2, 2)) {
  auto grant = allocate(resource, {slice(1, 0), slice(0, 0), slice(1, 1)}, settings, paths);
  EXPECT_TRUE(grant.has_value()) << grant.error().message;
  return grant ? *grant : Grant{};
}

TEST(AllocatePassing, DeviceNodesLieBelowTheDriverRoot) {
  inventory::Inventory inventory = machine(2);
  inventory.gpus[0].minor = 5;
  settings::Settings settings = slices::test::split(2);
  settings.passing.device_nodes = true;
  settings.driver_root = "/run/nvidia/driver";
  const Grant grant = granted(settings, {}, test::resource_of(inventory, settings));
  EXPECT_THAT(grant.devices,
              ElementsAre(DeviceNode{"/dev/nvidia5", "/run/nvidia/driver/dev/nvidia5"},
                          DeviceNode{"/dev/nvidia1", "/run/nvidia/driver/dev/nvidia1"},
                          DeviceNode{"/dev/nvidiactl", "/run/nvidia/driver/dev/nvidiactl"},
                          DeviceNode{"/dev/nvidia-uvm", "/run/nvidia/driver/dev/nvidia-uvm"},
                          DeviceNode{"/dev/nvidia-uvm-tools", "/run/nvidia/driver/dev/nvidia-uvm-tools"}));
  settings.driver_root = "/";
  EXPECT_EQ(granted(settings).devices.front(), (DeviceNode{"/dev/nvidia0", "/dev/nvidia0"}));
}

TEST(AllocatePassing, CdiNamesAreTheUuids) {
  settings::Settings settings;
  settings.cdi_prefix = "example.com/gpu";
  settings.passing.cdi_devices = true;
  EXPECT_THAT(granted(settings).cdi_names,
              ElementsAre("example.com/gpu=" + uuid(0), "example.com/gpu=" + uuid(1)));
}

// Annotations for CDI: at most 63 characters of letters, digits, "-", "_" and "." after the prefix.
TEST(AllocatePassing, CdiAnnotationsHaveAKeyForEachResource) {
  settings::Settings settings;
  settings.passing.cdi_annotations = true;
  const Grant one = granted(settings);
  ASSERT_THAT(one.annotations, SizeIs(1));
  EXPECT_THAT(one.annotations.begin()->first,
              AllOf(StartsWith("cdi.k8s.io/gpupool_"), MatchesRegex("cdi\\.k8s\\.io/[a-z0-9_]{1,63}")));
  EXPECT_EQ(one.annotations.begin()->second, "nvidia.com/gpu=" + uuid(0) + ",nvidia.com/gpu=" + uuid(1));
  slices::Resource other = sliced(2, 2);
  other.name = "example.com/gpu";
  EXPECT_NE(granted(settings, {}, other).annotations.begin()->first, one.annotations.begin()->first);
}

}  // namespace
}  // namespace gpupool::allocation
