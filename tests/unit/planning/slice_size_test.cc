// SPDX-License-Identifier: Apache-2.0
#include "planning/slices/slice_size.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;
const SliceSize kTenth{10, 1600, 10};

std::int64_t slices(const api::JobSlice& slice, const SliceSize& size = kTenth) {
  auto job = test::make_job();
  job.spec.slice = slice;
  return slices_for(need_of(job.spec, false), size);
}

TEST(SlicesFor, IsTheLeastThatSatisfiesMemoryAndCores) {
  EXPECT_EQ(slices({"1600Mi", {}, {}}), 1);
  EXPECT_EQ(slices({"1601Mi", {}, {}}), 2);
  EXPECT_EQ(slices({"4Gi", {}, {}}), 3);
  EXPECT_EQ(slices({"", 10, {}}), 1);
  EXPECT_EQ(slices({"", 11, {}}), 2);
  EXPECT_EQ(slices({"4Gi", 50, {}}), 5);
  EXPECT_EQ(slices({"12Gi", 10, {}}), 8);
  EXPECT_EQ(slices({"1", {}, {}}), 1);
}

TEST(SlicesFor, ACountIsTakenAsItIs) { EXPECT_EQ(slices({"", {}, 7}), 7); }

TEST(SlicesFor, AGpuThatIsTooSmallNeedsMoreThanItHas) {
  EXPECT_GT(slices({"16001Mi", {}, {}}), kTenth.count);
  EXPECT_GT(slices({"1Gi", {}, {}}, {10, 0, 10}), 10) << "slices without memory";
}

TEST(SlicesFor, WholeGpusAreAllTheirSlices) {
  const auto job = test::make_job("job", 4, 2);
  EXPECT_EQ(slices_for(need_of(job.spec, false), kTenth), 20);
}

TEST(SliceNeed, IsToldInWords) {
  auto job = test::make_job("job", 2);
  EXPECT_EQ(need_of(job.spec, false).text(), "1 whole GPU");
  job.spec.slice = api::JobSlice{"4Gi", 30, {}};
  EXPECT_EQ(need_of(job.spec, false).text(), "slices of 4Gi and 30 % cores");
  job.spec.slice = api::JobSlice{"", {}, 3};
  EXPECT_EQ(need_of(job.spec, false).text(), "3 slices");
}

RC_GTEST_PROP(SlicesForProperty, NoFewerWouldDo, ()) {
  const SliceSize size{*rc::gen::inRange(1, 101), *rc::gen::inRange(1, 5000), *rc::gen::inRange(1, 101)};
  SliceNeed need;
  need.memory = *rc::gen::inRange<std::int64_t>(0, 40'000 * kMiB);
  need.cores = *rc::gen::inRange(0, 101);
  const auto count = slices_for(need, size);
  const auto enough = [&](std::int64_t n) {
    return n >= 1 && n * size.memory_mib * kMiB >= need.memory && n * size.cores >= need.cores;
  };
  RC_ASSERT(enough(count));
  RC_ASSERT(!enough(count - 1));
}

}  // namespace
}  // namespace gpupool::planning
