// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slices/saved_table.h"
#include "tests/unit/device-plugin/slices/builders.h"

namespace gpupool::slices {
namespace {

using test::after;
using test::machine;
using test::picture;
using test::plan;
using test::slice;
using test::split;
using testing::Contains;
using testing::HasSubstr;

Table fresh(const settings::Settings& settings, std::int64_t gpus = 1) {
  return plan(machine(gpus), settings, after({})).table;
}

TEST(PlanChange, ShrinkingWaitsForTheOldSlicesInUse) {
  const Table four = fresh(split(4));
  const Planned first = plan(machine(1), split(2), after(four, {slice(0, 1), slice(0, 3)}));
  EXPECT_EQ(picture(first.table), "gpupool.dev/vgpu: 0::0! 0::1 0::2! 0::3");
  EXPECT_TRUE(first.waiting);
  EXPECT_THAT(first.notes,
              Contains(HasSubstr("keeps its old slices until all of them are free; 2 of them are in use")));
  EXPECT_EQ(test::find_slice(first.table, slice(0, 1))->memory_mib, 16376 / 4);
  EXPECT_THAT(test::find_slice(first.table, slice(0, 0))->unhealthy_reason, HasSubstr("cut anew"));

  const Planned second = plan(machine(1), split(2), after(first.table, {slice(0, 3)}));
  EXPECT_EQ(picture(second.table), "gpupool.dev/vgpu: 0::0! 0::1! 0::2! 0::3");
  const Planned third = plan(machine(1), split(2), after(second.table));
  EXPECT_EQ(picture(third.table), "gpupool.dev/vgpu: 0::0! 0::1! 0::2! 0::3!");
  EXPECT_TRUE(third.waiting);
  const Planned last = plan(machine(1), split(2), after(third.table));
  EXPECT_EQ(last.table, fresh(split(2)));
  EXPECT_FALSE(last.waiting);
}

// A slice that was still healthy in the last table may have been allocated since podresources was read.
TEST(PlanChange, EvenAnIdleGpuIsDrainedInOneTableFirst) {
  const Planned drained = plan(machine(1), split(2), after(fresh(split(4))));
  EXPECT_EQ(picture(drained.table), "gpupool.dev/vgpu: 0::0! 0::1! 0::2! 0::3!");
  const Planned raced = plan(machine(1), split(2), after(drained.table, {slice(0, 2)}));
  EXPECT_EQ(picture(raced.table), "gpupool.dev/vgpu: 0::0! 0::1! 0::2 0::3!");
  EXPECT_EQ(plan(machine(1), split(2), after(drained.table)).table, fresh(split(2)));
}

TEST(PlanChange, GrowingWaitsToo) {
  const Planned planned = plan(machine(1), split(4), after(fresh(split(2)), {slice(0, 0)}));
  EXPECT_EQ(picture(planned.table), "gpupool.dev/vgpu: 0::0 0::1!");
}

TEST(PlanChange, SoDoOtherSizesOfTheSameSlices) {
  const Planned planned = plan(machine(1), split(2, 1000), after(fresh(split(2, 2000)), {slice(0, 0)}));
  EXPECT_EQ(picture(planned.table), "gpupool.dev/vgpu: 0::0 0::1!");
  EXPECT_EQ(test::find_slice(planned.table, slice(0, 0))->memory_mib, 16376);
}

TEST(PlanChange, SoDoesAnotherName) {
  settings::Settings renamed = split(2);
  renamed.resource_name = "example.com/gpu";
  const Table old = fresh(split(2), 2);
  const Planned planned = plan(machine(2), renamed, after(old, {slice(1, 1)}));
  EXPECT_EQ(picture(planned.table), "gpupool.dev/vgpu: 0::0! 0::1! 1::0! 1::1");
  const Planned next = plan(machine(2), renamed, after(planned.table, {slice(1, 1)}));
  EXPECT_EQ(picture(next.table), "example.com/gpu: 0::0 0::1 gpupool.dev/vgpu: 1::0! 1::1");
}

TEST(PlanChange, AWholeGpuThatIsToBeSplitAndBack) {
  const Planned split_up = plan(machine(1), split(2), after(fresh(split(1)), {test::uuid(0)}));
  EXPECT_EQ(picture(split_up.table), "nvidia.com/gpu: 0");
  EXPECT_TRUE(split_up.waiting);
  const Planned whole = plan(machine(1), split(1), after(fresh(split(2)), {slice(0, 0)}));
  EXPECT_EQ(picture(whole.table), "gpupool.dev/vgpu: 0::0 0::1!");
}

TEST(PlanChange, OtherGpusDoNotWait) {
  settings::Settings settings = split(2);
  const Table old = fresh(settings, 2);
  settings.overrides = {{.match = {.node = "", .uuid = "", .model = "", .index = 0},
                         .count = 3,
                         .memory_scaling = {},
                         .core_scaling = {}}};
  const Planned planned = plan(machine(2), settings, after(old, {slice(0, 0), slice(1, 0)}));
  EXPECT_EQ(picture(planned.table), "gpupool.dev/vgpu: 0::0 0::1! 1::0 1::1");
}

TEST(PlanChange, WithoutPodresourcesNothingChanges) {
  const Table old = fresh(split(4));
  Circumstances blind = after(old);
  blind.in_use_known = false;
  const Planned planned = plan(machine(1), split(2), blind);
  EXPECT_EQ(planned.table, old);
  EXPECT_TRUE(planned.waiting);
  EXPECT_THAT(planned.notes, Contains(HasSubstr("the kubelet did not say which of them are in use")));

  const Table drained = plan(machine(1), split(2), after(old, {slice(0, 3)})).table;
  blind.previous = drained;
  EXPECT_EQ(plan(machine(1), split(2), blind).table, drained);
}

TEST(PlanChange, TakenBackInTimeItIsAsBefore) {
  const Table old = fresh(split(4));
  const Planned waiting = plan(machine(1), split(2), after(old, {slice(0, 3)}));
  EXPECT_EQ(plan(machine(1), split(4), after(waiting.table, {slice(0, 3)})).table, old);
}

TEST(PlanChange, APolicyAloneHoldsAtOnce) {
  settings::Settings settings = split(4);
  settings.policy = settings::Policy::kDistinct;
  const Planned planned = plan(machine(1), settings, after(fresh(split(4)), {slice(0, 3)}));
  EXPECT_EQ(planned.table.resources.front().policy, settings::Policy::kDistinct);
  EXPECT_FALSE(planned.waiting);
}

TEST(PlanChange, ASickGpuThatWaitsTellsWhyItIsSick) {
  Circumstances circumstances = after(fresh(split(4)), {slice(0, 3)});
  circumstances.unhealthy[test::uuid(0)] = "Xid79";
  const Planned planned = plan(machine(1), split(2), circumstances);
  EXPECT_EQ(picture(planned.table), "gpupool.dev/vgpu: 0::0! 0::1! 0::2! 0::3!");
  for (const Slice& one : planned.table.resources.front().slices) EXPECT_EQ(one.unhealthy_reason, "Xid79");
}

TEST(PlanChange, AGpuThatIsGoneStaysListedWhileItIsUsedOrKnownToBeLost) {
  const Table old = fresh(split(2), 2);
  const Planned used = plan(machine(1), split(2), after(old, {slice(1, 0)}));
  EXPECT_EQ(picture(used.table), "gpupool.dev/vgpu: 0::0 0::1 1::0! 1::1!");
  EXPECT_THAT(test::find_slice(used.table, slice(1, 0))->unhealthy_reason, HasSubstr("no longer lists"));
  Circumstances lost = after(old);
  lost.unhealthy[test::uuid(1)] = "Lost: fell off the bus";
  const Planned unhealthy = plan(machine(1), split(2), lost);
  EXPECT_EQ(picture(unhealthy.table), "gpupool.dev/vgpu: 0::0 0::1 1::0! 1::1!");
  EXPECT_EQ(test::find_slice(unhealthy.table, slice(1, 1))->unhealthy_reason, "Lost: fell off the bus");
  EXPECT_EQ(picture(plan(machine(1), split(2), after(old)).table), "gpupool.dev/vgpu: 0::0 0::1");
  EXPECT_EQ(plan(machine(2), split(2), after(unhealthy.table)).table, old);
}

TEST(PlanChange, WithoutADriverAllKnownSlicesAreUnhealthy) {
  Circumstances gone = after(fresh(split(2), 2));
  gone.unhealthy = {{test::uuid(0), "DriverGone"}, {test::uuid(1), "DriverGone"}};
  EXPECT_EQ(picture(plan({}, split(2), gone).table), "gpupool.dev/vgpu: 0::0! 0::1! 1::0! 1::1!");
}

TEST(PlanChange, ARestartWithAnotherConfigurationWaitsToo) {
  const auto restored = restore(save(fresh(split(2))));
  ASSERT_TRUE(restored.has_value());
  const Planned planned = plan(machine(1), split(4), after(*restored, {slice(0, 0)}));
  EXPECT_EQ(picture(planned.table), "gpupool.dev/vgpu: 0::0 0::1!");
  EXPECT_EQ(test::find_slice(planned.table, slice(0, 0))->memory_mib, 16376 / 2);
}

TEST(PlanChange, WithNothingRestoredSlicesOfAStrangeCutStillBlockTheirGpu) {
  const Planned planned = plan(machine(2), split(2), after({}, {slice(0, 7), slice(0, 0), slice(1, 1)}));
  EXPECT_EQ(picture(planned.table), "gpupool.dev/vgpu: 0::0 0::7 1::0 1::1");
  EXPECT_TRUE(planned.waiting);
  const Planned whole = plan(machine(1), split(2), after({}, {test::uuid(0)}));
  EXPECT_EQ(picture(whole.table), "gpupool.dev/vgpu: 0");
  const Planned drained = plan(machine(2), split(2), after(planned.table, {}));
  EXPECT_EQ(picture(drained.table), "gpupool.dev/vgpu: 0::0! 0::7! 1::0 1::1");
  EXPECT_EQ(plan(machine(2), split(2), after(drained.table)).table, fresh(split(2), 2));
}

}  // namespace
}  // namespace gpupool::slices
