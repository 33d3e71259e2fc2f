// SPDX-License-Identifier: Apache-2.0
#include "enforcement/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpupool::enforcement {
namespace {

using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;
using Kind = Finding::Kind;
using Process = DriverFigures::Process;

constexpr std::uint64_t kMiB = 1024 * 1024;

Share share(const std::string& pod, std::uint64_t limit_mib, std::uint64_t counted_mib, bool end = false) {
  return {"lab", pod, "uid-" + pod, "GPU-0", limit_mib * kMiB, counted_mib * kMiB, 64 * kMiB, end};
}

Process process(const std::string& pod, std::uint64_t mib) {
  return {pod.empty() ? "" : "uid-" + pod, mib * kMiB};
}

class AuditTest : public testing::Test {
 protected:
  std::vector<Finding> round(const std::vector<Share>& shares, const DriverFigures& figures) {
    now_ += seconds(5);
    return auditor_.round(shares, {{"GPU-0", figures}}, now_);
  }
  std::vector<Finding> rounds(int count, const std::vector<Share>& shares, const DriverFigures& figures) {
    std::vector<Finding> findings;
    for (int i = 0; i < count; ++i) findings = round(shares, figures);
    return findings;
  }

  Auditor auditor_;
  base::WallTime now_{seconds(1000)};
};

TEST_F(AuditTest, WhatFitsIsNoFinding) {
  const std::vector<Share> shares{share("a", 1000, 900), share("b", 1000, 1000)};
  EXPECT_THAT(rounds(3, shares, {3000 * kMiB, {process("a", 950), process("b", 1064), process("", 900)}}),
              IsEmpty());
}

TEST_F(AuditTest, MoreThanTheLimitIsFoundInTheSecondRound) {
  const std::vector<Share> shares{share("a", 1000, 900, true), share("b", 1000, 500, true)};
  const DriverFigures figures{5000 * kMiB, {process("a", 700), process("a", 365), process("b", 500)}};
  EXPECT_THAT(round(shares, figures), IsEmpty());
  const auto first = now_;
  const auto findings = round(shares, figures);
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0],
            (Finding{Kind::kOverLimit, "lab", "a", "uid-a", "GPU-0", 1065 * kMiB, 1000 * kMiB, first, true}));
}

TEST_F(AuditTest, OneRoundThatFitsBeginsAnew) {
  const std::vector<Share> shares{share("a", 1000, 900)};
  const DriverFigures much{2000 * kMiB, {process("a", 1500)}};
  const DriverFigures little{900 * kMiB, {process("a", 900)}};
  EXPECT_THAT(round(shares, much), IsEmpty());
  EXPECT_THAT(round(shares, little), IsEmpty());
  EXPECT_THAT(round(shares, much), IsEmpty());
  EXPECT_THAT(round(shares, much), SizeIs(1));
  EXPECT_THAT(round(shares, little), IsEmpty());
}

// Each write of a GpuNode costs: the figure grows, and does not swing.
TEST_F(AuditTest, TheMostIsKept) {
  const std::vector<Share> shares{share("a", 1000, 900)};
  rounds(2, shares, {std::nullopt, {process("a", 1500)}});
  EXPECT_EQ(round(shares, {std::nullopt, {process("a", 1300)}})[0].used_bytes, 1500 * kMiB);
  EXPECT_EQ(round(shares, {std::nullopt, {process("a", 1600)}})[0].used_bytes, 1600 * kMiB);
}

TEST_F(AuditTest, MemoryThatTheLimiterHasNotCountedIsReportedAndNeverEnded) {
  const std::vector<Share> shares{share("a", 1000, 100, true)};
  const auto findings = rounds(2, shares, {std::nullopt, {process("a", 165)}});
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].kind, Kind::kUncounted);
  EXPECT_FALSE(findings[0].end);
  EXPECT_EQ(findings[0].other_bytes, 100 * kMiB);
}

TEST_F(AuditTest, ARegionThatCannotBeReadLeavesTheLimit) {
  Share one = share("a", 1000, 0);
  one.counted_bytes.reset();
  EXPECT_THAT(rounds(2, {one}, {std::nullopt, {process("a", 900)}}), IsEmpty());
  EXPECT_THAT(rounds(2, {one}, {std::nullopt, {process("a", 1100)}}), SizeIs(1));
}

TEST_F(AuditTest, MemoryOfOtherProgramsIsNobodysExcess) {
  const std::vector<Share> shares{share("a", 1000, 900)};
  EXPECT_THAT(rounds(2, shares, {9000 * kMiB, {process("", 8000), process("x", 500), process("a", 900)}}),
              IsEmpty());
}

// Without the PIDs of the node.
TEST_F(AuditTest, WithoutProcessesTheGpuIsComparedAsAWhole) {
  const std::vector<Share> shares{share("a", 1000, 900, true), share("b", 1000, 900, true)};
  EXPECT_THAT(rounds(2, shares, {2064 * kMiB, {}}), IsEmpty());
  const auto findings = rounds(2, shares, {2065 * kMiB, {{"", std::nullopt}}});
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].ns + findings[0].pod + findings[0].pod_uid, "");
  EXPECT_EQ(findings[0].other_bytes, 2000 * kMiB);
  EXPECT_FALSE(findings[0].end);
}

TEST_F(AuditTest, APodThatIsAloneOnItsGpuIsNamedAndNotEnded) {
  const auto findings = rounds(2, {share("a", 1000, 900, true)}, {1100 * kMiB, {}});
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].pod, "a");
  EXPECT_FALSE(findings[0].end);
}

TEST_F(AuditTest, APodWithoutAUidMakesTheWholeGpuCount) {
  Share unknown = share("a", 1000, 900, true);
  unknown.pod_uid.clear();
  const auto findings = rounds(2, {unknown, share("b", 1000, 900)}, {3000 * kMiB, {process("b", 2900)}});
  ASSERT_THAT(findings, SizeIs(1));
  EXPECT_EQ(findings[0].pod, "");
}

TEST_F(AuditTest, WithoutFiguresAFindingStays) {
  const std::vector<Share> shares{share("a", 1000, 900)};
  ASSERT_THAT(rounds(2, shares, {std::nullopt, {process("a", 1500)}}), SizeIs(1));
  EXPECT_THAT(auditor_.round(shares, {}, now_), SizeIs(1));
  EXPECT_THAT(auditor_.round({}, {}, now_), IsEmpty());  // the pod is gone
  EXPECT_THAT(auditor_.round(shares, {}, now_), IsEmpty());
}

// A pod of the same name is another one.
TEST_F(AuditTest, AnotherPodBeginsAnew) {
  const DriverFigures figures{std::nullopt, {process("a", 1500), {"uid-2", 1500 * kMiB}}};
  Share later = share("a", 1000, 900);
  later.pod_uid = "uid-2";
  ASSERT_THAT(rounds(2, {share("a", 1000, 900)}, figures), SizeIs(1));
  EXPECT_THAT(round({later}, figures), IsEmpty());
  EXPECT_EQ(round({later}, figures)[0].pod_uid, "uid-2");
}

}  // namespace
}  // namespace gpupool::enforcement
