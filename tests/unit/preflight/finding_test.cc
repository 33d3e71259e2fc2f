// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "checks/render.h"
#include "tests/unit/preflight/judged.h"

namespace gpupool::checks {
namespace {

TEST(Judgement, NotesAreToldOnlyWhereNothingIsWrong) {
  Judgement judgement("kernel");
  judgement.note("6.1");
  judgement.note("overlay");
  test::expect_judged(judgement.finding(), {Verdict::kOk, "6.1, overlay"});
  judgement.warn("swap is on", "swapoff -a");
  EXPECT_EQ(judgement.finding().found, "swap is on");
}

TEST(Judgement, FailuresComeFirstAndRemediesOnce) {
  Judgement judgement("kernel");
  judgement.warn("a", "do x");
  judgement.fail("b", "do y");
  judgement.fail("c", "do y");
  const auto finding = judgement.finding();
  EXPECT_EQ(finding.verdict, Verdict::kFail);
  EXPECT_EQ(finding.found, "b; c; a");
  EXPECT_EQ(finding.remedy, "do y\ndo x");
}

TEST(AsText, IsALineForACheckAndOneForEachStep) {
  EXPECT_EQ(as_text({{"driver", Verdict::kOk, "driver 1", ""},
                     {"kernel", Verdict::kFail, "no\x1b\noverlay", "a\nb"}}),
            "ok    driver             driver 1\n"
            "FAIL  kernel             no  overlay\n"
            "                         -> a\n"
            "                         -> b\n");
  EXPECT_EQ(as_text({{"time", Verdict::kWarn, "off", "set it"}}).substr(0, 10), "warn  time");
}

TEST(AsJson, HasTheWorstVerdictAndEveryCheck) {
  const auto all = nlohmann::json::parse(as_json({{"driver", Verdict::kOk, "x", ""},
                                                  {"time", Verdict::kWarn, "\xff \"quoted\"", "y"},
                                                  {"kernel", Verdict::kFail, "z", "a\nb"}}));
  EXPECT_EQ(all.at("verdict"), "fail");
  ASSERT_EQ(all.at("checks").size(), 3U);
  EXPECT_EQ(all.at("checks").at(1).at("found"), "\xEF\xBF\xBD \"quoted\"");
  EXPECT_EQ(all.at("checks").at(2),
            (nlohmann::json{{"name", "kernel"}, {"verdict", "fail"}, {"found", "z"}, {"remedy", "a\nb"}}));
  EXPECT_EQ(nlohmann::json::parse(as_json({})).at("verdict"), "ok");
}

TEST(Counted, TellsOneFromMany) {
  EXPECT_EQ(counted(1, "GPU"), "1 GPU");
  EXPECT_EQ(counted(0, "GPU"), "0 GPUs");
}

}  // namespace
}  // namespace gpupool::checks
