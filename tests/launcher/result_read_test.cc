// SPDX-License-Identifier: Apache-2.0
// What the launcher writes, the operator reads.
#include <gtest/gtest.h>

#include <string>

#include "launcher/result.h"
#include "planning/workers/worker_result.h"

namespace gpupool::launcher {
namespace {

Result full(Outcome outcome) {
  Result result;
  result.attempt = 2;
  result.rank = 3;
  result.outcome = outcome;
  result.exit_code = outcome == Outcome::kSignaled ? 137 : 7;
  if (outcome == Outcome::kSignaled) result.signal = 9;
  result.stop_signal = 15;
  result.report = {R"({"step":7,"path":"a \"b\""})", "2026-01-02T03:04:05.678Z", ""};
  result.reason = "Reason";
  result.message = "a \"message\"\twith\\signs";
  result.tail = "one\ntwo";
  result.started_at = "2026-01-02T03:04:05Z";
  result.finished_at = "2026-01-02T03:04:06Z";
  return result;
}

class EachOutcome : public testing::TestWithParam<Outcome> {};

INSTANTIATE_TEST_SUITE_P(All, EachOutcome,
                         testing::Values(Outcome::kExited, Outcome::kSignaled, Outcome::kNotStarted,
                                         Outcome::kInterrupted));

TEST_P(EachOutcome, IsReadAsItWasWritten) {
  const Result written = full(GetParam());
  const auto read = planning::parse_worker_result(to_json(written, kMaxResultBytes));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->version, api::worker_result::kVersion);
  EXPECT_EQ(read->attempt, written.attempt);
  EXPECT_EQ(read->rank, written.rank);
  EXPECT_EQ(read->exit_code, written.exit_code);
  EXPECT_EQ(read->signal, written.signal.value_or(0));
  EXPECT_EQ(read->stop_signal, written.stop_signal);
  EXPECT_EQ(read->report, written.report.text);
  EXPECT_EQ(read->reported_at, written.report.written_at);
  EXPECT_EQ(read->reason, written.reason);
  EXPECT_EQ(read->message, written.message);
  EXPECT_EQ(read->tail, written.tail);
  EXPECT_EQ(read->finished_at, written.finished_at);
}

TEST_P(EachOutcome, IsTheSameForBoth) {
  Result written = full(GetParam());
  written.exit_code = 0;
  const auto read = planning::parse_worker_result(to_json(written, kMaxResultBytes));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->interrupted(), GetParam() == Outcome::kInterrupted);
  EXPECT_EQ(read->succeeded(), GetParam() == Outcome::kExited);
  EXPECT_EQ(read->outcome == api::worker_result::kSignaled, GetParam() == Outcome::kSignaled);
  EXPECT_EQ(read->outcome == api::worker_result::kNotStarted, GetParam() == Outcome::kNotStarted);
}

// A kubelet cuts at any byte; the numbers come first for that.
TEST_P(EachOutcome, IsReadWhenItWasCutAfterTheNumbers) {
  const Result written = full(GetParam());
  const std::string json = to_json(written, kMaxResultBytes);
  for (std::size_t size = kMinResultBytes; size <= json.size(); ++size) {
    const auto read = planning::parse_worker_result(json.substr(0, size));
    ASSERT_TRUE(read.has_value()) << size;
    EXPECT_EQ(read->exit_code, written.exit_code);
    EXPECT_EQ(read->attempt, written.attempt);
  }
}

TEST_P(EachOutcome, IsReadAtEverySizeThatTheOperatorAsksFor) {
  for (int containers = 1; containers <= 200; ++containers) {
    const int size = api::worker_result::max_bytes(containers);
    EXPECT_GE(size, kMinResultBytes);
    const std::string json = to_json(full(GetParam()), static_cast<std::size_t>(size));
    EXPECT_LE(json.size(), static_cast<std::size_t>(size));
    EXPECT_TRUE(planning::parse_worker_result(json).has_value()) << size;
  }
}

TEST(WorkerResultFormat, SaysWhyThereIsNoReport) {
  Result written = full(Outcome::kExited);
  written.report = {std::nullopt, "", "is a link"};
  const auto read = planning::parse_worker_result(to_json(written, kMaxResultBytes));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->report_error, "is a link");
  EXPECT_EQ(read->report, std::nullopt);
}

TEST(WorkerResultFormat, SharesTheRoomOfThePod) {
  EXPECT_EQ(api::worker_result::max_bytes(1), 3072);
  EXPECT_EQ(api::worker_result::max_bytes(4), 3072);
  EXPECT_EQ(api::worker_result::max_bytes(5), 2457);
  EXPECT_EQ(api::worker_result::max_bytes(96), 128);
  EXPECT_EQ(api::worker_result::max_bytes(1000), 128);
}

}  // namespace
}  // namespace gpupool::launcher
