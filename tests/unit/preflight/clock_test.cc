// SPDX-License-Identifier: Apache-2.0
#include "checks/clock.h"

#include <gtest/gtest.h>

#include "probes/clock.h"
#include "tests/unit/preflight/judged.h"

namespace gpupool {
namespace {

using checks::Verdict;
using std::chrono::milliseconds;

TEST(JudgeClock, ComparesWithTheApiServer) {
  struct Case {
    bool synchronised;
    std::optional<milliseconds> ahead;
    test::Expected expected;
  };
  const std::vector<Case> cases{
      {true, std::nullopt, {Verdict::kOk, "compared with no API server"}},
      {true, milliseconds(0), {Verdict::kOk, "agrees with the API server's"}},
      {true, milliseconds(-1000), {Verdict::kOk, "agrees"}},
      {true, milliseconds(1001), {Verdict::kWarn, "1.0 s ahead of the API server", "chronyc makestep"}},
      {true, milliseconds(-30000), {Verdict::kWarn, "30.0 s behind the API server", "chronyc makestep"}},
      {true, milliseconds(-30100), {Verdict::kFail, "30.1 s behind", "chronyc makestep"}},
      {true, milliseconds(3600000), {Verdict::kFail, "3600.0 s ahead", "chronyc makestep"}},
      {false, milliseconds(0), {Verdict::kWarn, "nothing synchronises the clock", "apt install chrony"}},
      {false,
       milliseconds(40000),
       {Verdict::kFail, "40.0 s ahead of the API server; the kernel says", "apt install chrony"}},
  };
  for (const auto& test_case : cases) {
    test::expect_judged(checks::judge_clock({test_case.synchronised, test_case.ahead}), test_case.expected);
  }
}

TEST(ParseHttpDate, ReadsTheOneFormThatServersSend) {
  const auto at = probes::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT");
  ASSERT_TRUE(at);
  EXPECT_EQ(std::chrono::system_clock::to_time_t(*at), 784111777);
  EXPECT_FALSE(probes::parse_http_date(""));
  EXPECT_FALSE(probes::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT+1"));
  EXPECT_FALSE(probes::parse_http_date("1994-11-06T08:49:37Z"));
}

// A Date of 100 s stands for all times before 101 s.
TEST(AheadOf, IsTheLeastThatExplainsTheAnswer) {
  const auto at = [](int ms) { return base::WallTime(milliseconds(ms)); };
  const auto date = at(100000);
  EXPECT_EQ(probes::ahead_of(date, at(100200), at(100300)), milliseconds(0));
  EXPECT_EQ(probes::ahead_of(date, at(99000), at(100500)), milliseconds(0));
  EXPECT_EQ(probes::ahead_of(date, at(101000), at(101001)), milliseconds(0));
  EXPECT_EQ(probes::ahead_of(date, at(103500), at(103900)), milliseconds(2500));
  EXPECT_EQ(probes::ahead_of(date, at(90000), at(95000)), milliseconds(-5000));
}

}  // namespace
}  // namespace gpupool
