// SPDX-License-Identifier: Apache-2.0
#include "telemetry/saved_busy_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/manual_clock.h"

namespace gpupool::telemetry {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;

const std::map<std::string, BusyTime> kTimes{
    {"GPU-a", {nanoseconds(1234567891), seconds(3), test::ManualClock::kWallStart}},
    {"GPU-\"b\"", {seconds(0), seconds(0), test::ManualClock::kWallStart + seconds(7)}}};

TEST(SavedBusyTimes, WhatIsWrittenIsReadBack) {
  EXPECT_EQ(read_busy_times(write_busy_times(kTimes, "boot \"1\""), "boot \"1\"").value(), kTimes);
  EXPECT_THAT(read_busy_times(write_busy_times({}, "boot-1"), "boot-1").value(), IsEmpty());
}

TEST(SavedBusyTimes, ARebootBeginsAnew) {
  EXPECT_THAT(read_busy_times(write_busy_times(kTimes, "boot-1"), "boot-2").value(), IsEmpty());
  EXPECT_THAT(read_busy_times(write_busy_times(kTimes, ""), "").value(), IsEmpty()) << "unknown";
}

TEST(SavedBusyTimes, OtherTextIsAnError) {
  for (const auto* text : {"", "{", "[]", R"({"version": 2, "bootID": "boot-1", "gpus": {}})"}) {
    EXPECT_FALSE(read_busy_times(text, "boot-1")) << text;
  }
  for (const auto* gpu : {R"("busyNanoseconds": 1)", R"("busyNanoseconds": -1, "sampledNanoseconds": 1)",
                          R"("busyNanoseconds": 2, "sampledNanoseconds": 1)",
                          R"("busyNanoseconds": 2, "sampledNanoseconds": 9223372036854775807)"}) {
    const auto text = R"({"version": 1, "bootID": "boot-1", "gpus": {"GPU-a": {)" + std::string(gpu) + "}}}";
    EXPECT_FALSE(read_busy_times(text, "boot-1")) << text;
  }
}

TEST(SavedBusyTimes, HalfAFileIsAnError) {
  const auto whole = write_busy_times(kTimes, "boot-1");
  const auto longer = write_busy_times({{"GPU-" + std::string(96, 'x'), {}}, *kTimes.begin()}, "boot-1");
  const auto last_brace = whole.rfind('}');
  for (std::size_t size = 0; size <= last_brace; ++size) {
    EXPECT_FALSE(read_busy_times(whole.substr(0, size), "boot-1")) << size;
  }
  // The plugin was killed between the content and the end of a file that was longer before.
  EXPECT_FALSE(read_busy_times(whole + longer.substr(whole.size()), "boot-1"));
}

TEST(SavedBusyTimes, ARestartedPluginCountsOn) {
  test::ManualClock clock;
  BusyTimes before;
  const auto add = [&](BusyTimes& times, std::int64_t percent) {
    times.add({{"GPU-a", {.gpu_percent = percent}}}, clock.now(), clock.wall());
    clock.advance(seconds(1));
  };
  for (int i = 0; i < 4; ++i) add(before, 33);
  BusyTimes after;
  ASSERT_TRUE(after.restore(before.save("boot-1"), "boot-1"));
  EXPECT_EQ(after.all(), before.all());
  clock.advance(seconds(2));
  add(after, 100);
  EXPECT_EQ(after.all(), before.all()) << "nobody knows what the GPU did meanwhile";
  add(after, 100);
  EXPECT_EQ(after.all().at("GPU-a").busy, before.all().at("GPU-a").busy + seconds(1));
  EXPECT_EQ(after.all().at("GPU-a").since, test::ManualClock::kWallStart);
}

TEST(SavedBusyTimes, WhatCannotBeRestoredChangesNothing) {
  BusyTimes times;
  ASSERT_TRUE(times.restore(write_busy_times(kTimes, "boot-1"), "boot-1"));
  EXPECT_FALSE(times.restore("rubbish", "boot-1"));
  EXPECT_EQ(times.all(), kTimes);
  EXPECT_THAT(times.save("boot-1"), HasSubstr("\"busyNanoseconds\": 1234567891"));
}

}  // namespace
}  // namespace gpupool::telemetry
