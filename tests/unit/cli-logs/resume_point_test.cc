// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/resume_point.h"

#include <gtest/gtest.h>

namespace gpupool::logs {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Verdict = ResumePoint::Verdict;

base::WallTime moment(int ms) { return base::WallTime(seconds(1'000'000)) + milliseconds(ms); }

TEST(ResumePoint, BeginsAtTheBeginning) {
  ResumePoint point;
  EXPECT_FALSE(point.since());
  point.begin_again();
  EXPECT_EQ(Verdict::kNew, point.take(moment(0), 1));
  EXPECT_EQ(moment(-1000), point.since());
}

TEST(ResumePoint, AsksForWholeSeconds) {
  ResumePoint point;
  point.take(moment(5300), 1);
  EXPECT_EQ(moment(4000), point.since());
  point.take(moment(4900), 2);  // of the other stream
  EXPECT_EQ(moment(4000), point.since());
}

TEST(ResumePoint, LinesThatComeAgainAreSeen) {
  ResumePoint point;
  point.take(moment(5300), 1);
  point.take(moment(5400), 2);
  point.begin_again();
  EXPECT_EQ(Verdict::kSeen, point.take(moment(5300), 1));
  EXPECT_EQ(Verdict::kSeen, point.take(moment(5400), 2));
  EXPECT_EQ(Verdict::kNew, point.take(moment(5400), 3));
  EXPECT_EQ(Verdict::kNew, point.take(moment(5500), 2));
}

TEST(ResumePoint, EqualLinesOfOneMomentAreCounted) {
  ResumePoint point;
  point.take(moment(5300), 7);
  point.take(moment(5300), 7);
  point.begin_again();
  EXPECT_EQ(Verdict::kSeen, point.take(moment(5300), 7));
  EXPECT_EQ(Verdict::kSeen, point.take(moment(5300), 7));
  EXPECT_EQ(Verdict::kNew, point.take(moment(5300), 7));
  EXPECT_EQ(Verdict::kNew, point.take(moment(5300), 7)) << "new lines are not compared with each other";
}

TEST(ResumePoint, SeesWhenLinesMayBeMissing) {
  ResumePoint point;
  point.take(moment(5300), 1);
  point.begin_again();
  EXPECT_EQ(Verdict::kNewAfterGap, point.take(moment(9000), 2));
  EXPECT_EQ(Verdict::kNew, point.take(moment(9100), 3));
}

TEST(ResumePoint, ARotatedLogMayBeginWithinTheSecond) {
  ResumePoint point;
  for (int i = 0; i < 10; ++i) point.take(moment(5000 + i), static_cast<std::uint64_t>(i));
  point.begin_again();
  EXPECT_EQ(Verdict::kSeen, point.take(moment(5008), 8));
  EXPECT_EQ(Verdict::kSeen, point.take(moment(5009), 9));
  EXPECT_EQ(Verdict::kNew, point.take(moment(5010), 10));
}

TEST(ResumePoint, TheRestOfALineThatBeganEarlierIsSeen) {
  ResumePoint point;
  point.take(moment(3900), 1);  // a long line, in pieces of 3900, 4100
  point.take(moment(5300), 2);
  point.begin_again();
  ASSERT_EQ(moment(4000), point.since());
  EXPECT_EQ(Verdict::kSeen, point.take(moment(4100), 99));
  EXPECT_EQ(Verdict::kSeen, point.take(moment(5300), 2));
}

TEST(ResumePoint, ASecondBreakComparesWithEverythingSince) {
  ResumePoint point;
  point.take(moment(5300), 1);
  point.begin_again();
  point.take(moment(5300), 1);
  point.take(moment(5600), 2);
  point.begin_again();
  EXPECT_EQ(Verdict::kSeen, point.take(moment(5300), 1));
  EXPECT_EQ(Verdict::kSeen, point.take(moment(5600), 2));
  EXPECT_EQ(Verdict::kNew, point.take(moment(5600), 3));
}

TEST(ResumePoint, MemoryIsBoundedInASecondOfManyLines) {
  ResumePoint point;
  constexpr int kMany = 200'000;
  const auto line = [](int i) { return base::WallTime(seconds(1'000'000)) + std::chrono::microseconds(i); };
  for (int i = 0; i < kMany; ++i) point.take(line(i), static_cast<std::uint64_t>(i));
  point.begin_again();
  for (int i = 0; i < kMany; ++i) {
    ASSERT_EQ(Verdict::kSeen, point.take(line(i), static_cast<std::uint64_t>(i))) << i;
  }
  EXPECT_EQ(Verdict::kNew, point.take(line(kMany), kMany));
}

}  // namespace
}  // namespace gpupool::logs
