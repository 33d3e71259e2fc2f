// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>

#include "checks/finding.h"

namespace gpupool::test {

// What a check should say: parts of what it found and of what to do.
struct Expected {
  checks::Verdict verdict = checks::Verdict::kOk;
  const char* found = "";
  const char* remedy = "";  // "": none at all
};

inline void expect_judged(const checks::Finding& finding, const Expected& expected) {
  EXPECT_EQ(finding.verdict, expected.verdict) << finding.found;
  EXPECT_THAT(finding.found, testing::HasSubstr(expected.found));
  EXPECT_THAT(finding.remedy, testing::HasSubstr(expected.remedy));
  EXPECT_EQ(finding.remedy.empty(), finding.verdict == checks::Verdict::kOk) << finding.remedy;
}

}  // namespace gpupool::test
