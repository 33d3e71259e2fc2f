// SPDX-License-Identifier: Apache-2.0
#include "launcher/notice.h"

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "launcher/timestamp.h"

namespace gpupool::launcher {
namespace {

using Seconds = std::chrono::seconds;

TEST(SignalDelay, LeavesATenthOfTheGraceAndAtLeastTenSeconds) {
  const auto by_file = [](int grace) { return signal_delay(NoticeMode::kFile, Seconds(grace)).count(); };
  EXPECT_EQ(by_file(1), 0);
  EXPECT_EQ(by_file(10), 0);
  EXPECT_EQ(by_file(11), 1);
  EXPECT_EQ(by_file(30), 20);
  EXPECT_EQ(by_file(100), 90);
  EXPECT_EQ(by_file(120), 108);
  EXPECT_EQ(by_file(86'400), 77'760);
  EXPECT_EQ(by_file(2'147'483'647), 1'932'735'283);
  EXPECT_EQ(signal_delay(NoticeMode::kSignal, Seconds(120)), Seconds(0));
}

class NoticeFile : public testing::Test {
 protected:
  NoticeFile() {
    std::string pattern = testing::TempDir() + "/notice-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  ~NoticeFile() override { std::filesystem::remove_all(directory_); }

  std::string file() const { return directory_ / "notice.json"; }
  std::string text() const {
    std::ostringstream all;
    all << std::ifstream(file()).rdbuf();
    return all.str();
  }

  std::filesystem::path directory_;
};

TEST_F(NoticeFile, HasTheDeadline) {
  Notice notice(file(), NoticeMode::kSignal, Seconds(3600));
  EXPECT_FALSE(notice.given());
  const std::time_t before = std::time(nullptr);
  EXPECT_TRUE(notice.take(SIGTERM));
  EXPECT_TRUE(notice.given());
  EXPECT_EQ(notice.due(), std::nullopt);
  bool is_one = false;
  for (std::time_t now = before; now <= std::time(nullptr); ++now)
    is_one |= text() == R"({"deadline":")" + rfc3339(now + 3600) + "\"}\n";
  EXPECT_TRUE(is_one) << text();
  EXPECT_EQ(std::filesystem::status(file()).permissions(), std::filesystem::perms{0644});
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1) << "nothing else is left";
}

TEST_F(NoticeFile, IsWrittenOnce) {
  Notice notice(file(), NoticeMode::kSignal, Seconds(30));
  EXPECT_TRUE(notice.take(SIGTERM));
  std::filesystem::remove(file());
  EXPECT_TRUE(notice.take(SIGTERM));
  EXPECT_EQ(text(), "");
}

TEST_F(NoticeFile, HoldsTheSignalUntilItIsDue) {
  Notice notice(file(), NoticeMode::kFile, Seconds(30));
  const Clock::time_point before = Clock::now();
  EXPECT_FALSE(notice.take(SIGINT));
  ASSERT_TRUE(notice.due().has_value());
  EXPECT_GE(*notice.due(), before + Seconds(20));
  EXPECT_LE(*notice.due(), Clock::now() + Seconds(20));
  EXPECT_EQ(notice.take_due(), std::nullopt);
}

TEST_F(NoticeFile, ASecondSignalEndsTheWait) {
  Notice notice(file(), NoticeMode::kFile, Seconds(30));
  EXPECT_FALSE(notice.take(SIGTERM));
  EXPECT_TRUE(notice.take(SIGINT));
  EXPECT_EQ(notice.due(), std::nullopt) << "the first is not sent later";
  EXPECT_TRUE(notice.take(SIGTERM));
}

TEST_F(NoticeFile, AShortGraceLeavesNoTimeToWait) {
  Notice notice(file(), NoticeMode::kFile, Seconds(10));
  EXPECT_TRUE(notice.take(SIGTERM));
  EXPECT_NE(text(), "");
}

TEST_F(NoticeFile, AFileThatCannotBeWrittenDelaysNothing) {
  std::filesystem::create_directories(std::filesystem::path(file()) / "full");
  Notice notice(file(), NoticeMode::kFile, Seconds(30));
  EXPECT_TRUE(notice.take(SIGTERM));
  EXPECT_TRUE(notice.given());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 1);
}

TEST_F(NoticeFile, FollowsNoLink) {
  const auto target = directory_ / "target";
  std::ofstream(target) << "mine";
  for (const char* name : {"notice.json", "notice.json.new"})
    std::filesystem::create_symlink(target, directory_ / name);
  Notice notice(file(), NoticeMode::kSignal, Seconds(30));
  EXPECT_TRUE(notice.take(SIGTERM));
  EXPECT_FALSE(std::filesystem::is_symlink(std::filesystem::symlink_status(file())));
  std::string kept;
  std::ifstream(target) >> kept;
  EXPECT_EQ(kept, "mine");
}

}  // namespace
}  // namespace gpupool::launcher
