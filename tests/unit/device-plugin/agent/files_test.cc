// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>

#include "agent/boot_file.h"
#include "agent/settings_watch.h"
#include "agent/state_file.h"
#include "base/file_identity.h"
#include "tests/unit/device-plugin/kubelet/plugin_on_node.h"

namespace gpupool::agent {
namespace {

namespace fs = std::filesystem;
using test::TemporaryFolder;

void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::trunc) << text; }

class StateFileTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/new/state.json";
};

TEST_F(StateFileTest, KeepsWhatWasWritten) {
  EXPECT_FALSE(StateFile(path_).read().value().has_value());
  ASSERT_TRUE(StateFile(path_).write("one"));
  EXPECT_EQ(StateFile(path_).read().value(), "one");
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(StateFileTest, WritesOnlyChanges) {
  StateFile file(path_);
  ASSERT_TRUE(file.write("one"));
  fs::remove(path_);
  ASSERT_TRUE(file.write("one"));
  EXPECT_FALSE(fs::exists(path_));
  ASSERT_TRUE(file.write("two"));
  EXPECT_EQ(StateFile(path_).read().value(), "two");
}

TEST_F(StateFileTest, WhatIsNoFileIsAnError) {
  fs::create_directories(path_);
  EXPECT_FALSE(StateFile(path_).read());
  EXPECT_FALSE(StateFile(path_).write("one"));
}

class BootFileTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/new/usage.json";
};

TEST_F(BootFileTest, KeepsTheLastContent) {
  const BootFile file(path_);
  EXPECT_FALSE(file.read().value().has_value());
  for (const auto* content : {"one", "one and more", "two"}) {
    ASSERT_TRUE(file.write(content));
    EXPECT_EQ(BootFile(path_).read().value(), content);
  }
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(BootFileTest, IsOverwrittenInPlace) {
  const BootFile file(path_);
  ASSERT_TRUE(file.write("one"));
  const auto before = base::identify(path_).inode;
  ASSERT_TRUE(file.write("two"));
  EXPECT_EQ(base::identify(path_).inode, before);
  fs::remove_all(fs::path(path_).parent_path());
  ASSERT_TRUE(file.write("three"));
  EXPECT_EQ(file.read().value(), "three");
}

TEST_F(BootFileTest, WhatIsNoFileIsAnError) {
  fs::create_directories(path_);
  EXPECT_FALSE(BootFile(path_).read());
  EXPECT_FALSE(BootFile(path_).write("one"));
}

// Counts the calls of a watch.
class SettingsWatchTest : public testing::Test {
 protected:
  void watch() {
    watch_ = std::make_unique<SettingsWatch>(path_, base::Log::none(), [this] {
      const std::lock_guard lock(mutex_);
      ++calls_;
      called_.notify_all();
    });
  }
  bool wait_for(int calls) {
    std::unique_lock lock(mutex_);
    return called_.wait_for(lock, std::chrono::seconds(20), [&] { return calls_ >= calls; });
  }
  int calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.path() + "/plugin.yaml";
  std::mutex mutex_;
  std::condition_variable called_;
  int calls_ = 0;
  std::unique_ptr<SettingsWatch> watch_;
};

TEST_F(SettingsWatchTest, Checklist28SeesAFileThatIsWrittenAndOneThatIsReplaced) {
  write(path_, "one");
  watch();
  write(path_, "two");
  ASSERT_TRUE(wait_for(1));
  write(folder_.path() + "/other", "three");
  fs::rename(folder_.path() + "/other", path_);
  const int before = calls();
  EXPECT_TRUE(wait_for(std::max(before, 2)));
}

// As the kubelet does it: plugin.yaml -> ..data/plugin.yaml, ..data -> ..2026_01_02, and the latter is
// swapped.
TEST_F(SettingsWatchTest, Checklist28SeesAConfigMapThatIsSwapped) {
  const auto at = [&](const std::string& name) { return folder_.path() + "/" + name; };
  fs::create_directory(at("..one"));
  fs::create_directory(at("..two"));
  write(at("..one/plugin.yaml"), "one");
  write(at("..two/plugin.yaml"), "two");
  fs::create_directory_symlink("..one", at("..data"));
  fs::create_symlink("..data/plugin.yaml", path_);
  watch();
  fs::create_directory_symlink("..two", at("..data_tmp"));
  fs::rename(at("..data_tmp"), at("..data"));
  EXPECT_TRUE(wait_for(1));
}

TEST_F(SettingsWatchTest, SeesAFileAndAFolderThatComeLater) {
  path_ = folder_.path() + "/later/plugin.yaml";
  watch();
  fs::create_directory(folder_.path() + "/later");
  write(path_, "one");
  EXPECT_TRUE(wait_for(1));
}

TEST_F(SettingsWatchTest, WithoutAFileThereIsNothingToSee) {
  path_.clear();
  watch();
  watch_.reset();
  EXPECT_EQ(calls(), 0);
}

}  // namespace
}  // namespace gpupool::agent
