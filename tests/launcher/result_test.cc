// SPDX-License-Identifier: Apache-2.0
#include "launcher/result.h"

#include <gtest/gtest.h>

#include <string>

#include "launcher/timestamp.h"

namespace gpupool::launcher {
namespace {

Result sample() {
  Result result;
  result.attempt = 2;
  result.rank = 3;
  result.outcome = Outcome::kSignaled;
  result.exit_code = 137;
  result.signal = 9;
  result.reason = "Signaled";
  result.message = "killed by SIGKILL";
  result.tail = "one\n\"two\"\\\n";
  result.started_at = rfc3339(0);
  result.finished_at = rfc3339(86'399);
  return result;
}

TEST(Result, IsTheJsonTheOperatorReads) {
  EXPECT_EQ(to_json(sample(), kMaxResultBytes),
            R"({"version":1,"outcome":"signaled","exitCode":137,"signal":9,"attempt":2,"rank":3,)"
            R"("finishedAt":"1970-01-01T23:59:59Z","startedAt":"1970-01-01T00:00:00Z",)"
            R"("reason":"Signaled","message":"killed by SIGKILL","tail":"one\n\"two\"\\"})");
}

TEST(Result, LeavesOutWhatDoesNotApply) {
  Result result = sample();
  result.signal.reset();
  result.started_at.clear();
  const std::string json = to_json(result, kMaxResultBytes);
  EXPECT_EQ(json.find("signal\""), std::string::npos);
  EXPECT_EQ(json.find("startedAt"), std::string::npos);
}

TEST(Result, HasTheReportAfterTheTimes) {
  Result result = sample();
  result.report = {R"({"step":12,"path":"a\b"})", "2026-01-02T03:04:05.678Z", ""};
  EXPECT_NE(to_json(result, kMaxResultBytes)
                .find(R"("startedAt":"1970-01-01T00:00:00Z","report":"{\"step\":12,\"path\":\"a\\b\"}",)"
                      R"("reportedAt":"2026-01-02T03:04:05.678Z","reason":"Signaled")"),
            std::string::npos);
  result.report.written_at.clear();
  EXPECT_EQ(to_json(result, kMaxResultBytes).find("reportedAt"), std::string::npos);
  result.report = {"", "", ""};
  EXPECT_NE(to_json(result, kMaxResultBytes).find(R"(,"report":"","reason")"), std::string::npos);
}

TEST(Result, SaysWhyThereIsNoReport) {
  Result result = sample();
  result.report = {std::nullopt, "", "is a link"};
  const std::string json = to_json(result, kMaxResultBytes);
  EXPECT_NE(json.find(R"("startedAt":"1970-01-01T00:00:00Z","reportError":"is a link","reason")"),
            std::string::npos);
  EXPECT_EQ(json.find("report\""), std::string::npos);
  result.report.error = std::string(500, 'x');
  EXPECT_NE(to_json(result, kMaxResultBytes).find("\"" + std::string(120, 'x') + "\""), std::string::npos);
}

TEST(Result, SaysThatItWasToldToStop) {
  Result result = sample();
  result.stop_signal = 15;
  EXPECT_NE(to_json(result, kMaxResultBytes).find(R"("signal":9,"stopSignal":15,)"), std::string::npos);
}

TEST(Result, TailIsCutAtTheStartOfALine) {
  Result result = sample();
  result.tail.clear();
  for (int i = 0; i < 1000; ++i) result.tail += "line " + std::to_string(1000 + i) + "\n";
  const std::string json = to_json(result, kMaxResultBytes);
  EXPECT_NE(json.find("\"tail\":\"line "), std::string::npos) << json;
  EXPECT_TRUE(json.ends_with("line 1998\\nline 1999\"}")) << json;
}

TEST(Result, OneLongLineIsCutBetweenCharacters) {
  Result result = sample();
  result.tail = "x";
  for (int i = 0; i < 2000; ++i) result.tail += "€";
  const std::string json = to_json(result, kMaxResultBytes);
  EXPECT_NE(json.find("\"tail\":\"€"), std::string::npos) << json;
}

TEST(Result, IsBoundedWhateverTheTexts) {
  Result result = sample();
  result.attempt = 2'147'483'647;
  result.rank = 99'999;
  result.reason = std::string(9000, '"');
  result.message = std::string(9000, '\\');
  result.tail = std::string(9000, '"') + "\n" + std::string(9000, '\\');
  const std::string json = to_json(result, kMaxResultBytes);
  EXPECT_LE(json.size(), std::size_t{kMaxResultBytes});
  EXPECT_GE(json.size(), kMaxTailBytes + 512);
  EXPECT_EQ(exit_code_in(json), 137);
}

TEST(Result, IsReadOnlyWhole) {
  const std::string json = to_json(sample(), kMaxResultBytes);
  ASSERT_EQ(exit_code_in(json), 137);
  EXPECT_EQ(exit_code_in(json.substr(0, json.size() - 1)), std::nullopt);
  EXPECT_EQ(exit_code_in(json + std::string(100, '\0')), std::nullopt);
  std::string holed = json;
  holed.replace(json.size() - 20, 10, std::string(10, '\0'));
  EXPECT_EQ(exit_code_in(holed), std::nullopt);
}

TEST(Timestamp, CountsLeapYearsAndCenturies) {
  EXPECT_EQ(rfc3339(0), "1970-01-01T00:00:00Z");
  EXPECT_EQ(rfc3339(951'782'399), "2000-02-28T23:59:59Z");
  EXPECT_EQ(rfc3339(951'782'400), "2000-02-29T00:00:00Z");
  EXPECT_EQ(rfc3339(4'107'542'400), "2100-03-01T00:00:00Z");
  EXPECT_EQ(rfc3339(std::timespec{86'399, 1'234'567}), "1970-01-01T23:59:59.001Z");
}

TEST(Result, ExitCodeIsFoundDespiteHostileTexts) {
  Result result = sample();
  result.reason = "\"exitCode\":1,";
  EXPECT_EQ(exit_code_in(to_json(result, kMaxResultBytes)), 137);
}

TEST(Result, ExitCodeOfSomethingElseIsNothing) {
  EXPECT_EQ(exit_code_in(""), std::nullopt);
  EXPECT_EQ(exit_code_in("{}"), std::nullopt);
  EXPECT_EQ(exit_code_in(R"({"exitCode":"x"})"), std::nullopt);
  EXPECT_EQ(exit_code_in(R"({"exitCode":300})"), std::nullopt);
  EXPECT_EQ(exit_code_in(R"({"exitCode":3)"), std::nullopt);  // cut
}

}  // namespace
}  // namespace gpupool::launcher
