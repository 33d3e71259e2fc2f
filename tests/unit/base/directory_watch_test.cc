// SPDX-License-Identifier: Apache-2.0
#include "base/directory_watch.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tests/unit/base/inotify_limits.h"

namespace gpupool::test {
namespace {

namespace fs = std::filesystem;
using base::DirectoryWatch;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

double cpu_seconds() {
  timespec used{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9;
}

// While it lives, this process opens no more files than it has.
class NoMoreFiles {
 public:
  explicit NoMoreFiles(rlim_t limit) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit low = before_;
    low.rlim_cur = limit;
    ::setrlimit(RLIMIT_NOFILE, &low);
  }
  ~NoMoreFiles() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  NoMoreFiles(const NoMoreFiles&) = delete;
  NoMoreFiles& operator=(const NoMoreFiles&) = delete;

 private:
  rlimit before_{};
};

class Watch : public testing::Test {
 protected:
  // Starts to keep what is written to the log.
  void SetUp() override { testing::internal::CaptureStderr(); }
  void TearDown() override {
    if (!read_) testing::internal::GetCapturedStderr();
  }
  std::vector<std::string> log_lines() {
    read_ = true;
    std::istringstream text(testing::internal::GetCapturedStderr());
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) lines.push_back(line);
    return lines;
  }

  // How often wait() returns in 2 s in which nothing happens, with no limit of its own that matters.
  static int returns_in_two_seconds(DirectoryWatch& watch, double& cpu) {
    int returns = 0;
    const double before = cpu_seconds();
    const auto end = steady_clock::now() + seconds(2);
    for (; steady_clock::now() < end && returns < 1'000'000; ++returns) watch.wait(seconds(10), {});
    cpu = cpu_seconds() - before;
    return returns;
  }
  static void expect_quiet(DirectoryWatch& watch) {
    double cpu = 0;
    EXPECT_LE(returns_in_two_seconds(watch, cpu), 4);
    EXPECT_LT(cpu, 0.1);
  }

  // How long wait() takes to return when a file is made a little after it began; a limit of 10 s.
  milliseconds until_seen(DirectoryWatch& watch) const {
    const auto begin = steady_clock::now();
    std::jthread maker([&] {
      std::this_thread::sleep_for(milliseconds(100));
      std::ofstream(folder_.path() + "/file") << "text";
    });
    while (!fs::exists(folder_.path() + "/file")) watch.wait(seconds(10), {});
    return std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
  }

  const TemporaryFolder folder_;
  const base::Log log_{base::LogLevel::kDebug};

 private:
  bool read_ = false;
};

TEST_F(Watch, SeesAChangeAtOnceAndSaysNothing) {
  DirectoryWatch watch(folder_.path(), log_);
  watch.wait(seconds(10), {});  // the first ends at once: what was before is news
  EXPECT_LT(until_seen(watch), seconds(5));
  EXPECT_EQ(log_lines(), std::vector<std::string>{});
}

TEST_F(Watch, WithoutInstancesItLooksEverySecondAndSaysSoOnce) {
  std::optional<RefusedInotify> refused(RefusedInotify::What::kInstances);
  DirectoryWatch watch(folder_.path(), log_);
  expect_quiet(watch);
  EXPECT_LT(until_seen(watch), seconds(5));
  refused.reset();
  watch.wait(seconds(10), {});  // works again, and that is news
  watch.wait(milliseconds(1), {});
  const auto lines = log_lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[0].find("\"level\":\"warning\""), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find("Too many open files"), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find("fs.inotify.max_user_instances"), std::string::npos) << lines[0];
  EXPECT_NE(lines[0].find(folder_.path()), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("again"), std::string::npos) << lines[1];
}

TEST_F(Watch, WithoutWatchesItLooksEverySecondAndSaysSoOnce) {
  std::optional<RefusedInotify> refused(RefusedInotify::What::kWatches);
  DirectoryWatch watch(folder_.path(), log_);
  expect_quiet(watch);
  EXPECT_LT(until_seen(watch), seconds(5));
  refused.reset();
  watch.wait(seconds(10), {});
  const auto lines = log_lines();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_NE(lines[0].find("fs.inotify.max_user_watches"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("again"), std::string::npos) << lines[1];
}

// From then on it does not look every second any more: changes wake it.
TEST_F(Watch, WatchesAsSoonAsItCan) {
  std::optional<RefusedInotify> refused(RefusedInotify::What::kInstances);
  DirectoryWatch watch(folder_.path(), log_);
  watch.wait(milliseconds(1), {});
  refused.reset();
  watch.wait(seconds(10), {});  // tries again
  const auto begin = steady_clock::now();
  watch.wait(seconds(3), {});
  EXPECT_GE(steady_clock::now() - begin, seconds(3));
  EXPECT_LT(until_seen(watch), seconds(5));
}

TEST_F(Watch, WithoutFileDescriptorsItLooksEverySecond) {
  const rlim_t open_files = 3;
  std::optional<NoMoreFiles> none(open_files);
  DirectoryWatch watch(folder_.path(), log_);
  expect_quiet(watch);
  none.reset();
  watch.wait(seconds(10), {});
  watch.wait(milliseconds(1), {});
  // It can be woken, too.
  const auto begin = steady_clock::now();
  std::jthread waker([&] {
    std::this_thread::sleep_for(milliseconds(100));
    watch.wake();
  });
  watch.wait(seconds(60), {});
  EXPECT_LT(steady_clock::now() - begin, seconds(30));
  EXPECT_EQ(log_lines().size(), 2U);
}

// poll() takes no more entries than a process may have files.
TEST_F(Watch, WhenPollFailsItWaitsAllTheSame) {
  DirectoryWatch watch(folder_.path(), log_);
  const NoMoreFiles none(0);
  expect_quiet(watch);
}

TEST_F(Watch, OfAnAbsentDirectoryItLooksEverySecondAndSaysNothing) {
  const auto path = folder_.path() + "/later";
  DirectoryWatch watch(path, log_);
  expect_quiet(watch);
  fs::create_directory(path);
  watch.wait(seconds(10), {});  // finds it
  const auto begin = steady_clock::now();
  std::jthread maker([&] {
    std::this_thread::sleep_for(milliseconds(100));
    std::ofstream(path + "/file") << "text";
  });
  while (!fs::exists(path + "/file")) watch.wait(std::chrono::hours(1), {});
  EXPECT_LT(steady_clock::now() - begin, seconds(30));
  EXPECT_EQ(log_lines(), std::vector<std::string>{});
}

// The new directory may get the number of the old one.
TEST_F(Watch, SeesChangesInADirectoryThatWasReplaced) {
  const auto path = folder_.path() + "/dir";
  fs::create_directory(path);
  DirectoryWatch watch(path, log_);
  for (int i = 0; i < 20; ++i) {
    fs::remove_all(path);
    fs::create_directory(path);
    // What has happened until now is seen, and then there is nothing more.
    for (auto begin = steady_clock::now();; begin = steady_clock::now()) {
      watch.wait(milliseconds(20), {});
      if (steady_clock::now() - begin >= milliseconds(20)) break;
    }
    std::ofstream(path + "/file") << "text";
    const auto begin = steady_clock::now();
    watch.wait(seconds(20), {});
    ASSERT_LT(steady_clock::now() - begin, seconds(10)) << "round " << i;
  }
}

TEST_F(Watch, StopEndsAWaitWithoutInotify) {
  const RefusedInotify refused(RefusedInotify::What::kInstances);
  DirectoryWatch watch(folder_.path(), log_);
  std::stop_source stop;
  stop.request_stop();
  const auto begin = steady_clock::now();
  for (int i = 0; i < 20; ++i) watch.wait(seconds(10), stop.get_token());
  EXPECT_LT(steady_clock::now() - begin, seconds(10));
}

}  // namespace
}  // namespace gpupool::test
