// SPDX-License-Identifier: Apache-2.0
#include "base/rfc3339.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace gpupool::base {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kTime{1767323045s};  // 2026-01-02T03:04:05Z, by date(1)

TEST(Rfc3339, WritesSecondsAndMicroseconds) {
  EXPECT_EQ(to_rfc3339(kTime + 999'999'999ns), "2026-01-02T03:04:05Z");
  EXPECT_EQ(to_rfc3339_micro(kTime + 1'999ns), "2026-01-02T03:04:05.000001Z");
  EXPECT_EQ(to_rfc3339_micro(WallTime(-1us)), "1969-12-31T23:59:59.999999Z");
}

TEST(Rfc3339, ReadsFractionsAndOffsets) {
  EXPECT_EQ(parse_rfc3339("2026-01-02T03:04:05Z"), kTime);
  EXPECT_EQ(parse_rfc3339("2026-01-02t03:04:05z"), kTime);
  EXPECT_EQ(parse_rfc3339("2026-01-02T03:04:05.5Z"), kTime + 500ms);
  EXPECT_EQ(parse_rfc3339("2026-01-02T03:04:05.123456789999Z"), kTime + 123'456'789ns);
  EXPECT_EQ(parse_rfc3339("2026-01-02T05:34:05+02:30"), kTime);
  EXPECT_EQ(parse_rfc3339("2026-01-01T23:04:05-04:00"), kTime);
  EXPECT_EQ(parse_rfc3339("2026-01-02T03:03:60Z"), kTime - 5s);
  EXPECT_EQ(parse_rfc3339("2024-02-29T00:00:00Z"), WallTime(1709164800s));
}

TEST(Rfc3339, ClampsWhatCannotBeReckonedWith) {
  const auto last = parse_rfc3339("9999-12-31T23:59:59Z");
  const auto first = parse_rfc3339("0001-01-01T00:00:00Z");
  ASSERT_TRUE(first && last);
  EXPECT_EQ(to_rfc3339(*last), "2181-01-01T00:00:00Z");
  EXPECT_EQ(to_rfc3339(*first), "1900-01-01T00:00:00Z");
  EXPECT_GT(*last - *first, std::chrono::years(280));
  EXPECT_GT(*last + std::chrono::years(30), *last);
  EXPECT_LT(*first - std::chrono::years(30), *first);
}

TEST(Rfc3339, WritesTheFirstAndTheLastMoment) {
  EXPECT_EQ(to_rfc3339(WallTime::min()), "1677-09-21T00:12:43Z");
  EXPECT_EQ(to_rfc3339_micro(WallTime::min()), "1677-09-21T00:12:43.145224Z");
  EXPECT_EQ(to_rfc3339(WallTime::max()), "2262-04-11T23:47:16Z");
}

TEST(Rfc3339, RefusesEverythingElse) {
  for (const char* text :
       {"", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z", "2026-13-02T03:04:05Z",
        "2026-00-02T03:04:05Z", "2026-02-29T03:04:05Z", "2026-01-32T03:04:05Z", "2026-01-02T24:00:00Z",
        "2026-01-02T03:60:05Z", "2026-01-02T03:04:61Z", "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05+24:00",
        "2026-01-02T03:04:05+0230", "2026-01-02T03:04:05Zx", " 2026-01-02T03:04:05Z", "26-01-02T03:04:05Z",
        "2026-1-2T3:4:5Z", "+026-01-02T03:04:05Z"}) {
    EXPECT_FALSE(parse_rfc3339(text)) << text;
  }
}

// 1900 to 2180, by microseconds.
rc::Gen<WallTime> any_time() {
  return rc::gen::map(rc::gen::inRange<std::int64_t>(-2'208'988'800'000'000, 6'658'588'800'000'000),
                      [](std::int64_t micros) { return WallTime(std::chrono::microseconds(micros)); });
}

RC_GTEST_PROP(Rfc3339Property, MicrosecondsRoundTrip, ()) {
  const WallTime time = *any_time();
  RC_ASSERT(parse_rfc3339(to_rfc3339_micro(time)) == time);
}

RC_GTEST_PROP(Rfc3339Property, SecondsRoundTripRoundedDown, ()) {
  const WallTime time = *any_time();
  RC_ASSERT(parse_rfc3339(to_rfc3339(time)) == std::chrono::floor<std::chrono::seconds>(time));
}

}  // namespace
}  // namespace gpupool::base
