// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/device-plugin/slices/builders.h"

namespace gpupool::slices {
namespace {

using test::after;
using test::machine;
using test::picture;
using test::plan;
using test::split;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(PlanTable, ThreeGpusInTwoSlicesEach) {
  const Planned planned = plan(machine(3), split(2), after({}));
  EXPECT_EQ(picture(planned.table), "gpupool.dev/vgpu: 0::0 0::1 1::0 1::1 2::0 2::1");
  const Resource& resource = planned.table.resources.front();
  EXPECT_EQ(resource.policy, settings::Policy::kPack);
  EXPECT_EQ(resource.gpus[1], (SlicedGpu{test::uuid(1), 1, 1, -1, 2, true}));
  EXPECT_EQ(resource.slices[3],
            (Slice{test::slice(1, 1), test::uuid(1), test::uuid(1), 1, 8188, 50, true, ""}));
  EXPECT_THAT(planned.notes, IsEmpty());
  EXPECT_FALSE(planned.waiting);
}

TEST(PlanTable, UnsplitAndUnscaledGpusAreWholeOnes) {
  const Planned planned = plan(machine(2), split(1), after({}));
  EXPECT_EQ(picture(planned.table), "nvidia.com/gpu: 0 1");
  const Resource& resource = planned.table.resources.front();
  EXPECT_FALSE(resource.gpus[0].limited);
  EXPECT_EQ(resource.slices[0],
            (Slice{test::uuid(0), test::uuid(0), test::uuid(0), 0, 16376, 100, true, ""}));
}

TEST(PlanTable, AnUnsplitButScaledGpuIsASliceWithLimits) {
  const Planned planned = plan(machine(1), split(1, 500), after({}));
  EXPECT_EQ(picture(planned.table), "gpupool.dev/vgpu: 0::0");
  EXPECT_TRUE(planned.table.resources.front().gpus.front().limited);
  EXPECT_EQ(planned.table.resources.front().slices.front().memory_mib, 8188);
}

TEST(PlanTable, WholeAndSplitGpusOfANodeAreTwoResources) {
  settings::Settings settings = split(2);
  settings.overrides = {{.match = {.node = "", .uuid = "", .model = "", .index = 0},
                         .count = 1,
                         .memory_scaling = {},
                         .core_scaling = {}}};
  EXPECT_EQ(picture(plan(machine(2), settings, after({})).table),
            "gpupool.dev/vgpu: 1::0 1::1 nvidia.com/gpu: 0");
}

TEST(PlanTable, UnderAChosenNameTheyAreOne) {
  settings::Settings settings = split(2);
  settings.resource_name = "example.com/gpu";
  settings.policy = settings::Policy::kSpread;
  settings.overrides = {{.match = {.node = "", .uuid = "", .model = "", .index = 1},
                         .count = 1,
                         .memory_scaling = {},
                         .core_scaling = {}},
                        {.match = {.node = "", .uuid = "", .model = "", .index = 2},
                         .count = 3,
                         .memory_scaling = {},
                         .core_scaling = {}}};
  const Planned planned = plan(machine(3), settings, after({}));
  EXPECT_EQ(picture(planned.table), "example.com/gpu: 0::0 0::1 1 2::0 2::1 2::2");
  const Resource& resource = planned.table.resources.front();
  EXPECT_EQ(resource.policy, settings::Policy::kSpread);
  EXPECT_EQ(resource.gpus[0].split_count, 2);
  EXPECT_FALSE(resource.gpus[1].limited);
  EXPECT_EQ(resource.gpus[2].split_count, 3);
}

TEST(PlanTable, TheOrderIsThatOfTheIndexNotOfTheInventory) {
  inventory::Inventory inventory = machine(3);
  std::swap(inventory.gpus[0], inventory.gpus[2]);
  EXPECT_EQ(plan(inventory, split(2), after({})).table, plan(machine(3), split(2), after({})).table);
}

TEST(PlanTable, WhatIsOverCommittedOrLeftOverIsSaid) {
  EXPECT_THAT(
      plan(machine(1), split(10, 1500, 2000), after({})).notes,
      ElementsAre("GPU 0 (GPU-00000000-0000-0000-0000-000000000000, NVIDIA-GeForce-RTX-4070-Ti-SUPER): "
                  "10 slices of 2456 MiB and 20 %; over-committed: memory x 1.5, cores x 2; in no slice: "
                  "4 MiB and 0 % of its cores"));
  EXPECT_THAT(
      plan(machine(1), split(3), after({})).notes,
      ElementsAre(HasSubstr(": 3 slices of 5458 MiB and 33 %; in no slice: 2 MiB and 1 % of its cores")));
}

TEST(PlanTable, ACutThatCannotBeNamesTheGpu) {
  inventory::Inventory inventory = machine(2);
  inventory.gpus[1].memory_mib = 5;
  const auto planned = plan_table(inventory, split(10), after({}));
  ASSERT_FALSE(planned.has_value());
  EXPECT_EQ(planned.error().code, base::ErrorCode::kInvalidArgument);
  EXPECT_THAT(planned.error().message, HasSubstr("GPU 1 (GPU-00000000-0000-0000-0000-000000000001, "));
  EXPECT_THAT(planned.error().message, HasSubstr("deviceSplitCount 10"));
}

TEST(PlanTable, AllSlicesOfASickGpuAreUnhealthy) {
  Circumstances circumstances = after({});
  circumstances.unhealthy[test::uuid(1)] = "Xid79: it has fallen off the bus";
  const Planned planned = plan(machine(3), split(2), circumstances);
  EXPECT_EQ(picture(planned.table), "gpupool.dev/vgpu: 0::0 0::1 1::0! 1::1! 2::0 2::1");
  EXPECT_EQ(planned.table.resources.front().slices[2].unhealthy_reason, "Xid79: it has fallen off the bus");
  const Planned later = plan(machine(3), split(2), after(planned.table));
  EXPECT_EQ(later.table, plan(machine(3), split(2), after({})).table);
}

TEST(PlanTable, NoGpusNoResources) {
  const Planned planned = plan({}, split(10), after({}));
  EXPECT_THAT(planned.table.resources, IsEmpty());
  EXPECT_FALSE(planned.waiting);
}

TEST(PlanTable, AnOverrideForThisNodeThatMatchesNothingIsSaid) {
  settings::Settings settings = split(2);
  settings.overrides = {{.match = {.node = "gpu-1", .uuid = "", .model = "", .index = 7},
                         .count = 1,
                         .memory_scaling = {},
                         .core_scaling = {}},
                        {.match = {.node = "gpu-2", .uuid = "", .model = "", .index = 7},
                         .count = 1,
                         .memory_scaling = {},
                         .core_scaling = {}}};
  EXPECT_THAT(plan(machine(2), settings, after({})).notes,
              ElementsAre("overrides[0] is for this node and matches no GPU of it"));
}

TEST(PlanTable, AnIdTooLongForTheKubeletIsNotAdvertised) {
  inventory::Inventory inventory = machine(2);
  inventory.gpus[0].uuid = "GPU-" + std::string(60, 'x');
  const Planned planned = plan(inventory, split(2), after({}));
  EXPECT_EQ(picture(planned.table), "gpupool.dev/vgpu: 1::0 1::1");
  EXPECT_THAT(planned.notes, ElementsAre(HasSubstr("63 characters at most")));
}

}  // namespace
}  // namespace gpupool::slices
