// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/rfc3339.h"

namespace gpupool::base {
namespace {

using Json = nlohmann::ordered_json;

template <class Write>
std::vector<Json> lines_of(const Write& write) {
  testing::internal::CaptureStderr();
  write();
  std::istringstream text(testing::internal::GetCapturedStderr());
  std::vector<Json> lines;
  for (std::string line; std::getline(text, line);) {
    lines.push_back(Json::parse(line));
    EXPECT_EQ(lines.back().dump(), line);  // compact, without duplicate keys
  }
  return lines;
}

TEST(Log, WritesOneJsonObjectALine) {
  const auto lines = lines_of([] {
    const Log log = Log(LogLevel::kDebug).with({{"controller", "gpujob"}, {"n", 7}});
    log.debug("first", {{"ok", true}});
    log.error("braces {} and %s", {{"text", "quote\" newline\n tab\t \x01 \xff"}});
  });
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(parse_rfc3339(lines[0]["ts"].get<std::string>()));
  EXPECT_EQ(lines[0]["ts"].get<std::string>().size(), std::string("2026-01-02T03:04:05.000001Z").size());
  auto first = lines[0];
  first.erase("ts");
  EXPECT_EQ(first.dump(), R"({"level":"debug","msg":"first","controller":"gpujob","n":7,"ok":true})");
  EXPECT_EQ(lines[1]["msg"], "braces {} and %s");
  EXPECT_EQ(lines[1]["text"], "quote\" newline\n tab\t \x01 \xef\xbf\xbd");
}

TEST(Log, LeavesOutWhatIsLessSevere) {
  const auto lines = lines_of([] {
    const Log log(LogLevel::kWarning);
    log.info("no");
    log.warning("yes");
    Log::none().error("no");
  });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["level"], "warning");
}

TEST(Log, TheLaterOfTwoFieldsWins) {
  const auto lines = lines_of([] {
    const Log log = Log(LogLevel::kInfo).with({{"name", "a"}, {"x", 1}}).with({{"name", "b"}});
    log.info("m", {{"x", 2}});
  });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].size(), 5U);
  EXPECT_EQ(lines[0]["name"], "b");
  EXPECT_EQ(lines[0]["x"], 2);
}

TEST(Log, ThreadsDoNotMixTheirLines) {
  const auto lines = lines_of([] {
    const Log log(LogLevel::kDebug);  // no limit at this level
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([copy = log] {
        for (int n = 0; n < 100; ++n) copy.info(std::string(200, 'x'));
      });
    }
  });
  EXPECT_EQ(lines.size(), 400U);  // each line parses
}

TEST(Log, AMessageThatIsRepeatedIsWrittenAtABoundedRate) {
  constexpr std::size_t kRepeated = 20'000;
  std::size_t written = 0;
  const auto lines = lines_of([] {
    const Log log = Log(LogLevel::kInfo).with({{"controller", "gpujob"}});
    for (std::size_t i = 0; i < kRepeated; ++i) {
      log.with({{"name", std::to_string(i)}}).error("Reconciler error", {{"error", std::to_string(i)}});
    }
    log.error("Another error");
  });
  for (const auto& line : lines) written += line["msg"] == "Reconciler error" ? 1U : 0U;
  EXPECT_GE(written, 20U);
  EXPECT_LT(written, 60U);  // would take two minutes even on a machine that hangs
  EXPECT_EQ(lines.back()["msg"], "Another error");
}

TEST(Log, EachPartOfTheProgramHasRatesOfItsOwn) {
  const auto lines = lines_of([] {
    const Log log(LogLevel::kInfo);
    const Log one = log.with({{"kind", "Pod"}});
    for (int i = 0; i < 1000; ++i) one.warning("List or watch failed");
    log.with({{"kind", "Node"}}).warning("List or watch failed");
  });
  EXPECT_EQ(lines.back()["kind"], "Node");
}

TEST(Log, AHugeValueIsCut) {
  const auto lines =
      lines_of([] { Log(LogLevel::kInfo).error("m", {{"error", std::string(100'000, 'x')}}); });
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0]["error"], std::string(4096, 'x') + "...");
}

TEST(Log, KnowsItsLevelsByName) {
  LogLevel level = LogLevel::kInfo;
  EXPECT_TRUE(parse_log_level("warning", level));
  EXPECT_EQ(level, LogLevel::kWarning);
  EXPECT_FALSE(parse_log_level("Warning", level));
  EXPECT_FALSE(parse_log_level("", level));
}

}  // namespace
}  // namespace gpupool::base
