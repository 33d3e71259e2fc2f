// SPDX-License-Identifier: Apache-2.0
#include "telemetry/busy_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/manual_clock.h"

namespace gpupool::telemetry {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::IsEmpty;

class BusyTimesTest : public testing::Test {
 protected:
  // A reading of one GPU, so much later than the last one.
  void read(base::Duration later, std::optional<std::int64_t> percent, const std::string& gpu = "GPU-a") {
    clock_.advance(later);
    times_.add({{gpu, {.gpu_percent = percent}}}, clock_.now(), clock_.wall());
  }
  // So many readings, a second apart.
  void read_each_second(int times, std::int64_t percent) {
    for (int i = 0; i < times; ++i) read(seconds(1), percent);
  }
  BusyTime of(const std::string& gpu = "GPU-a") const { return times_.all().at(gpu); }
  // The mean utilization of an interval as docs/vgpu.md computes it.
  static double mean(const BusyTime& first, const BusyTime& second) {
    EXPECT_EQ(first.since, second.since);
    return 100.0 * static_cast<double>((second.busy - first.busy).count()) /
           static_cast<double>((second.sampled - first.sampled).count());
  }

  test::ManualClock clock_;
  BusyTimes times_;
};

TEST_F(BusyTimesTest, TheFirstReadingStartsAtZero) {
  read(milliseconds(300), 80);
  EXPECT_EQ(of(), (BusyTime{.since = test::ManualClock::kWallStart}));
}

TEST_F(BusyTimesTest, AddsUpUtilizationOverTime) {
  read(seconds(0), 100);
  read(milliseconds(1000), 50);
  read(milliseconds(250), 100);
  read(milliseconds(750), 0);
  EXPECT_EQ(of().busy, milliseconds(750));
  EXPECT_EQ(of().sampled, seconds(2));
}

TEST_F(BusyTimesTest, TwoReadsGiveTheMeanOfAnyInterval) {
  read(seconds(0), 0);
  read_each_second(10, 20);
  const auto first = of();
  read_each_second(30, 80);
  read_each_second(30, 40);
  const auto second = of();
  EXPECT_DOUBLE_EQ(mean(first, second), 60);
  read_each_second(10, 5);
  EXPECT_DOUBLE_EQ(mean(second, of()), 5);
}

TEST_F(BusyTimesTest, AGapIsNeitherBusyNorIdle) {
  read(seconds(0), 100);
  read_each_second(10, 50);
  const auto before = of();
  read(BusyTimes::kMaxGap + milliseconds(1), 100);
  EXPECT_EQ(of(), before);
  read_each_second(10, 50);
  EXPECT_DOUBLE_EQ(mean({.since = before.since}, of()), 50);
  EXPECT_EQ(of().sampled, seconds(20));
}

TEST_F(BusyTimesTest, ALateLookCounts) {
  read(seconds(0), 0);
  read(BusyTimes::kMaxGap, 100);
  EXPECT_EQ(of().busy, BusyTimes::kMaxGap);
}

TEST_F(BusyTimesTest, GpusAreCountedEachForItself) {
  times_.add({{"GPU-a", {.gpu_percent = 0}}}, clock_.now(), clock_.wall());
  clock_.advance(seconds(2));
  for (int i = 0; i < 2; ++i) {
    times_.add({{"GPU-a", {.gpu_percent = 100}}, {"GPU-b", {.gpu_percent = 10}}}, clock_.now(),
               clock_.wall());
    clock_.advance(seconds(1));
  }
  EXPECT_EQ(of("GPU-a").busy, seconds(3));
  EXPECT_EQ(of("GPU-b").busy, milliseconds(100));
  EXPECT_EQ(of("GPU-b").since, test::ManualClock::kWallStart + seconds(2));
}

TEST_F(BusyTimesTest, AGpuWithoutUtilizationIsNotCounted) {
  read(seconds(0), std::nullopt);
  EXPECT_THAT(times_.all(), IsEmpty());
  read(seconds(1), 100);
  read(seconds(1), std::nullopt);
  EXPECT_EQ(of().sampled, seconds(0));
  read(seconds(1), 50);
  EXPECT_EQ(of().sampled, seconds(2));
}

TEST_F(BusyTimesTest, BadReadingsNeverGoBackOrAboveTheTime) {
  read(seconds(0), 0);
  read(seconds(1), -50);
  EXPECT_EQ(of().busy, seconds(0));
  read(seconds(1), 900);
  EXPECT_EQ(of().busy, seconds(1));
}

}  // namespace
}  // namespace gpupool::telemetry
