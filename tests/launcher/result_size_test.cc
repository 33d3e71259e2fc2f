// SPDX-License-Identifier: Apache-2.0
// Results in every size: valid, bounded, and never without what decides.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "launcher/result.h"

namespace gpupool::launcher {
namespace {

using Json = nlohmann::json;

Result typical() {
  Result result;
  result.outcome = Outcome::kExited;
  result.exit_code = 1;
  result.reason = "Error";
  result.message = "exit code 1";
  result.tail = "epoch 1\nTraceback\nRuntimeError: broken\n";
  result.started_at = "2026-01-02T03:04:05Z";
  result.finished_at = "2026-01-02T03:04:06Z";
  return result;
}

Result with_largest_numbers(Result result) {
  result.outcome = Outcome::kInterrupted;
  result.exit_code = 255;
  result.signal = 64;
  result.stop_signal = 64;
  result.attempt = 2'147'483'647;
  result.rank = 2'147'483'647;
  return result;
}

// More than any field takes, also where a byte needs no escape.
std::string repeated(const std::string& piece) {
  std::string text;
  while (text.size() < kMaxResultBytes) text += piece;
  return text;
}

std::vector<Result> all_kinds() {
  const std::vector<std::string> texts = {"",
                                          "plain",
                                          "a\n\"b\"\n",
                                          repeated("line of text\n"),
                                          repeated("\""),
                                          repeated("\\\n"),
                                          repeated("\t\"\n"),
                                          repeated("\x01"),
                                          repeated("\u20ac"),
                                          repeated("x\U0001f600\n"),
                                          repeated("x"),
                                          repeated("\n")};
  std::vector<Result> results;
  for (const std::string& tail : texts) {
    for (const std::string& message : texts) {
      Result result = typical();
      result.tail = tail;
      result.message = message;
      results.push_back(result);
      result.started_at.clear();
      result.reason = message;
      result.report = {repeated("\"").substr(0, 300), "2026-01-02T03:04:05.678Z", ""};
      results.push_back(with_largest_numbers(result));
    }
  }
  return results;
}

std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all;
  for (std::size_t size = kMinResultBytes; size < 240; size += 3) all.push_back(size);
  for (std::size_t size = 240; size < kMaxResultBytes; size += 211) all.push_back(size);
  all.push_back(kMaxResultBytes);
  return all;
}

void expect_number(const Json& json, const char* key, const std::optional<int>& expected) {
  EXPECT_EQ(json.contains(key), expected.has_value()) << key;
  EXPECT_EQ(json.value(key, -1), expected.value_or(-1)) << key;
}

void expect_what_decides(const Json& json, const Result& result) {
  EXPECT_EQ(json.value("version", 0), 1);
  EXPECT_EQ(json.value("outcome", ""), result.outcome == Outcome::kExited ? "exited" : "interrupted");
  expect_number(json, "exitCode", result.exit_code);
  expect_number(json, "signal", result.signal);
  expect_number(json, "stopSignal", result.stop_signal);
  expect_number(json, "attempt", result.attempt);
  expect_number(json, "rank", result.rank);
}

std::string without_last_newlines(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

// Each text is a piece of the whole one, from the right side, and the less important ones were cut first.
void expect_texts(const Json& json, const Result& result) {
  const std::string reason = json.value("reason", "");
  const std::string message = json.value("message", "");
  const std::string tail = json.value("tail", "");
  EXPECT_TRUE(result.reason.starts_with(reason)) << reason;
  EXPECT_TRUE(result.message.starts_with(message)) << message;
  const std::string whole_tail = without_last_newlines(result.tail);
  EXPECT_TRUE(whole_tail.ends_with(tail)) << tail;
  const bool whole_lines = whole_tail.size() == tail.size() || tail.find('\n') == std::string::npos ||
                           whole_tail[whole_tail.size() - tail.size() - 1] == '\n';
  EXPECT_TRUE(whole_lines) << tail;
  const bool reason_is_whole = reason == result.reason || reason.size() > 8;  // or cut at its own limit
  const bool message_is_whole = message == result.message || message.size() > 80;
  EXPECT_TRUE(message.empty() || reason_is_whole) << json.dump();
  EXPECT_TRUE(tail.empty() || (message_is_whole && reason_is_whole)) << json.dump();
  EXPECT_TRUE(!json.contains("startedAt") || json.contains("finishedAt"));
  EXPECT_TRUE(!json.contains("report") || json["report"] == *result.report.text) << "never a part of it";
  EXPECT_TRUE(!json.contains("reportedAt") || json.contains("report"));
}

TEST(ResultSize, EverySizeAndContentIsValidAndSaysHowItEnded) {
  for (const Result& result : all_kinds()) {
    for (const std::size_t size : sizes()) {
      const std::string text = to_json(result, size);
      ASSERT_LE(text.size(), size) << text;
      ASSERT_EQ(exit_code_in(text), result.exit_code) << text;
      const Json json = Json::parse(text, nullptr, false);
      ASSERT_TRUE(json.is_object()) << size << ": " << text;  // also: valid UTF-8
      expect_what_decides(json, result);
      expect_texts(json, result);
      ASSERT_FALSE(HasFailure()) << size << ": " << text;
    }
  }
}

TEST(ResultSize, TheTailGoesFirstThenMessageThenReason) {
  const Result result = typical();
  const std::size_t full = to_json(result, kMaxResultBytes).size();
  const auto at = [&](std::size_t size) { return Json::parse(to_json(result, size)); };
  EXPECT_EQ(at(full).at("tail"), "epoch 1\nTraceback\nRuntimeError: broken");
  EXPECT_EQ(at(full - 1).at("tail"), "Traceback\nRuntimeError: broken");
  EXPECT_EQ(at(full - 12).at("tail"), "RuntimeError: broken");
  EXPECT_EQ(at(full - 22).at("tail"), "ntimeError: broken");
  EXPECT_EQ(at(full - 22).at("message"), "exit code 1");
  const std::size_t no_tail = full - at(full).at("tail").dump().size() - std::string(R"(,"tail":)").size();
  EXPECT_EQ(at(no_tail).at("message"), "exit code 1");
  EXPECT_EQ(at(no_tail - 1).at("message"), "exit code ");
  EXPECT_FALSE(at(no_tail - 1).contains("tail"));
  EXPECT_EQ(at(no_tail - 1).at("reason"), "Error");
  const std::size_t no_message = no_tail - std::string(R"(,"message":"exit code 1")").size();
  EXPECT_EQ(at(no_message).at("reason"), "Error");
  EXPECT_EQ(at(no_message - 1).at("reason"), "Erro");
  EXPECT_FALSE(at(no_message + 12).contains("message"));  // and the shorter "tail" does not take its place
  EXPECT_FALSE(at(no_message + 12).contains("tail"));
}

TEST(ResultSize, TheReportGoesAfterTheReasonAndBeforeTheTimes) {
  Result result = typical();
  result.report = {std::string(300, '"'), "2026-01-02T03:04:05.678Z", ""};
  const auto at = [&](std::size_t size) { return Json::parse(to_json(result, size)); };
  const std::size_t bare = to_json(typical(), kMaxResultBytes).size();
  const Json whole = at(bare + 700);
  EXPECT_EQ(whole.at("report"), *result.report.text);
  EXPECT_EQ(whole.at("tail"), at(kMaxResultBytes).at("tail"));
  std::size_t size = kMinResultBytes;
  while (!at(size).contains("report")) {
    EXPECT_FALSE(at(size).contains("reportedAt")) << size;
    ++size;
  }
  EXPECT_TRUE(at(size).contains("startedAt"));
  EXPECT_FALSE(at(size).contains("reason")) << "it takes what is left of the room";
  result.metrics = {repeated("m 1 2 ").substr(0, 1000)};
  result.tail = repeated("x");
  result.message = repeated("y");
  const Json full = at(kMaxResultBytes);
  EXPECT_EQ(full.at("report"), *result.report.text);
  EXPECT_EQ(full.at("message").get<std::string>().size(), 512U);
  EXPECT_EQ(full.at("metrics").size(), 1U);
  EXPECT_GE(full.at("tail").get<std::string>().size(), 500U);
}

TEST(ResultSize, TimesAreLeftOutBeforeNumbers) {
  const Result result = with_largest_numbers(typical());
  const auto at = [&](std::size_t size) { return Json::parse(to_json(result, size)); };
  EXPECT_FALSE(at(kMinResultBytes).contains("finishedAt"));
  EXPECT_FALSE(at(kMinResultBytes).contains("startedAt"));
  EXPECT_TRUE(at(kMinResultBytes + 32).contains("finishedAt"));
  EXPECT_FALSE(at(kMinResultBytes + 32).contains("startedAt"));
  EXPECT_TRUE(at(kMinResultBytes + 64).contains("startedAt"));
}

}  // namespace
}  // namespace gpupool::launcher
