// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/device-plugin/slices/builders.h"

namespace gpupool::slices {
namespace {

using test::after;
using test::picture;
using test::plan;
using test::split;
using testing::ElementsAre;
using testing::HasSubstr;

inventory::Inventory with_mig() {
  inventory::Inventory inventory = test::machine(2);
  inventory.gpus[1].mig_enabled = true;
  inventory.gpus[1].mig_instances = {{"MIG-a", "3g.20gb", 20096, 1, 0},
                                     {"MIG-b", "1g.10gb+me", 9728, 2, 0},
                                     {"MIG-c", "3g.20gb", 20096, 3, 0}};
  return inventory;
}

settings::Settings mig(settings::Settings settings) {
  settings.mig = true;
  return settings;
}

TEST(MigTable, WithoutMigTheGpuIsLeftOutAndThatIsSaid) {
  const Planned planned = plan(with_mig(), split(2), after({}));
  EXPECT_EQ(picture(planned.table), "gpupool.dev/vgpu: 0::0 0::1");
  EXPECT_THAT(planned.notes, ElementsAre(HasSubstr("is in MIG mode and left out; 'mig: true'")));
}

TEST(MigTable, WithMigItsInstancesAreResourcesByProfile) {
  const Planned planned = plan(with_mig(), mig(split(2)), after({}));
  EXPECT_EQ(picture(planned.table),
            "gpupool.dev/vgpu: 0::0 0::1 nvidia.com/mig-1g.10gb.me: 1/MIG-b nvidia.com/mig-3g.20gb: 1/MIG-a "
            "1/MIG-c");
  const Resource& resource = planned.table.resources[2];
  EXPECT_EQ(resource.gpus, (std::vector<SlicedGpu>{{test::uuid(1), 1, 1, -1, 2, false}}));
  EXPECT_EQ(resource.slices[1], (Slice{"MIG-c", test::uuid(1), "MIG-c", 2, 20096, 100, true, ""}));
}

TEST(MigTable, AGpuInMigModeIsNeverSlicedEvenIfItCouldNotBe) {
  inventory::Inventory inventory = with_mig();
  inventory.gpus[1].memory_mib = 1;
  EXPECT_EQ(picture(plan(inventory, split(2), after({})).table), "gpupool.dev/vgpu: 0::0 0::1");
}

TEST(MigTable, AllInstancesOfASickGpuAreUnhealthy) {
  Circumstances circumstances = after({});
  circumstances.unhealthy[test::uuid(1)] = "Lost";
  EXPECT_EQ(picture(plan(with_mig(), mig(split(2)), circumstances).table),
            "gpupool.dev/vgpu: 0::0 0::1 nvidia.com/mig-1g.10gb.me: 1/MIG-b! nvidia.com/mig-3g.20gb: "
            "1/MIG-a! 1/MIG-c!");
}

TEST(MigTable, InstancesComeAndGoByThemselves) {
  const Table before = plan(with_mig(), mig(split(2)), after({})).table;
  inventory::Inventory inventory = with_mig();
  inventory.gpus[1].mig_instances.erase(inventory.gpus[1].mig_instances.begin());
  inventory.gpus[1].mig_instances.push_back({"MIG-d", "3g.20gb", 20096, 4, 0});
  const Planned planned = plan(inventory, mig(split(2)), after(before, {"MIG-a", "MIG-c"}));
  EXPECT_EQ(picture(planned.table),
            "gpupool.dev/vgpu: 0::0 0::1 nvidia.com/mig-1g.10gb.me: 1/MIG-b nvidia.com/mig-3g.20gb: 1/MIG-c "
            "1/MIG-d");
  EXPECT_FALSE(planned.waiting);
}

TEST(MigTable, NoInstancesYet) {
  inventory::Inventory inventory = with_mig();
  inventory.gpus[1].mig_instances.clear();
  const Planned planned = plan(inventory, mig(split(2)), after({}));
  EXPECT_EQ(picture(planned.table), "gpupool.dev/vgpu: 0::0 0::1");
  EXPECT_THAT(planned.notes, ElementsAre(HasSubstr("is in MIG mode and has no instances")));
}

TEST(MigTable, SlicesThatAreInUseAreKeptWhenMigModeComes) {
  inventory::Inventory before = with_mig();
  before.gpus[1].mig_enabled = false;
  const Table old = plan(before, split(2), after({})).table;
  const Planned waiting = plan(with_mig(), mig(split(2)), after(old, {test::slice(1, 0)}));
  EXPECT_EQ(picture(waiting.table), "gpupool.dev/vgpu: 0::0 0::1 1::0 1::1!");
  EXPECT_TRUE(waiting.waiting);
}

TEST(MigTable, InstancesThatAreInUseAreKeptWhenMigIsTurnedOff) {
  const Table old = plan(with_mig(), mig(split(2)), after({})).table;
  const Planned waiting = plan(with_mig(), split(2), after(old, {"MIG-c"}));
  EXPECT_EQ(picture(waiting.table),
            "gpupool.dev/vgpu: 0::0 0::1 nvidia.com/mig-1g.10gb.me: 1/MIG-b! nvidia.com/mig-3g.20gb: "
            "1/MIG-a! 1/MIG-c");
  const Planned drained = plan(with_mig(), split(2), after(waiting.table));
  EXPECT_TRUE(drained.waiting);
  const Planned gone = plan(with_mig(), split(2), after(drained.table));
  EXPECT_EQ(picture(gone.table), "gpupool.dev/vgpu: 0::0 0::1");
  EXPECT_FALSE(gone.waiting);
}

}  // namespace
}  // namespace gpupool::slices
