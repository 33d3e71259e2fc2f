// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/worker_result.h"

#include <gtest/gtest.h>

#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

TEST(WorkerResult, IsReadWhole) {
  const auto result = parse_worker_result(
      R"({"version":1,"attempt":2,"rank":3,"outcome":"signaled","exitCode":0,"signal":9,"stopSignal":15,)"
      R"("reason":"R","message":"m","tail":"a\nb","finishedAt":"2026-01-02T03:04:05Z","later":[1]})");
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->attempt, 2);
  EXPECT_EQ(result->rank, 3);
  EXPECT_EQ(result->signal, 9);
  EXPECT_EQ(result->stop_signal, 15);
  EXPECT_EQ(result->tail, "a\nb");
  EXPECT_EQ(result->finished_at, "2026-01-02T03:04:05Z");
  EXPECT_FALSE(result->succeeded());
  EXPECT_FALSE(result->report.has_value());
}

TEST(WorkerResult, HasTheReportOfACheckpoint) {
  const auto result = parse_worker_result(test::exited_result(
      0, R"(,"report":"{\"step\":7}","reportedAt":"2026-01-02T03:04:05.678Z","reportError":"is a link")"));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->report, R"({"step":7})");
  EXPECT_EQ(result->reported_at, "2026-01-02T03:04:05.678Z");
  EXPECT_EQ(result->report_error, "is a link");
}

TEST(WorkerResult, SucceedsOnlyWithExitZero) {
  EXPECT_TRUE(parse_worker_result(test::exited_result(0))->succeeded());
  EXPECT_FALSE(parse_worker_result(test::exited_result(1))->succeeded());
  EXPECT_FALSE(parse_worker_result(test::interrupted_result())->succeeded());
}

TEST(WorkerResult, TruncatedAnywhereIsNoResult) {
  const auto whole = test::exited_result(0);
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_worker_result(whole.substr(0, size)).has_value()) << size;
}

TEST(WorkerResult, CutInItsTailStillTellsHowTheCommandEnded) {
  const std::string whole =
      R"({"version":1,"outcome":"exited","exitCode":127,"stopSignal":15,"attempt":2,"rank":3,)"
      R"("finishedAt":"2026-01-02T03:04:05Z","reason":"Error","message":"a \"quoted\", {text","tail":"x\ny, \"attempt\":"})";
  const auto needed = whole.find(",\"rank\"") + 1;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto result = parse_worker_result(whole.substr(0, size));
    ASSERT_EQ(result.has_value(), size >= needed) << size;
    if (!result) continue;
    EXPECT_EQ(result->exit_code, 127);
    EXPECT_EQ(result->stop_signal, 15);
    EXPECT_EQ(result->attempt, 2);
  }
  EXPECT_FALSE(parse_worker_result(R"({"version":1,"outcome":"exited","exitCode":12)").has_value())
      << "the rest of the number is missing";
}

class NotAResult : public testing::TestWithParam<const char*> {};

TEST_P(NotAResult, IsIgnored) { EXPECT_FALSE(parse_worker_result(GetParam()).has_value()); }

INSTANTIATE_TEST_SUITE_P(Messages, NotAResult,
                         testing::Values("", "Killed", "{}", "[]", "null", R"({"version":1})",
                                         R"({"outcome":"exited","exitCode":0})",
                                         R"({"version":0,"outcome":"exited"})",
                                         R"({"version":"1","outcome":"exited"})", "{\"version\":1,\xff"));

}  // namespace
}  // namespace gpupool::planning
