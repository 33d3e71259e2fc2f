// SPDX-License-Identifier: Apache-2.0
#include "launcher/log_spool.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace gpupool::launcher {
namespace {

namespace push = api::log_push;

constexpr std::uint64_t kRing = 1000;

class LogSpoolTest : public testing::Test {
 protected:
  LogSpoolTest() { open(); }

  void open() {
    spool_ = LogSpool();
    ASSERT_TRUE(spool_.open(path(), kRing));
  }
  std::string path() const { return folder_.path() + "/spool"; }
  void add(const std::string& text) {
    spool_.append(push::Stream::kStdout, 1, text);
    all_ += text;
  }
  // What the spool has from a position on.
  std::string rest(std::uint64_t from) {
    auto place = spool_.find(from);
    std::string chunks;
    while (place.position >= spool_.begin() && place.position < spool_.end()) spool_.read(place, 100, chunks);
    std::string text;
    std::string_view left = chunks;
    while (const auto chunk = push::take_chunk(left)) text += chunk->bytes;
    return text;
  }
  std::string expected() const { return all_.substr(spool_.begin()); }

  test::TemporaryFolder folder_;
  LogSpool spool_;
  std::string all_;
};

TEST_F(LogSpoolTest, TheOldestIsDroppedAndPositionsGoOn) {
  for (int i = 0; i < 500; ++i) {
    add("line " + std::to_string(i * i) + std::string(static_cast<std::size_t>(i % 37), 'x') + "\n");
    ASSERT_EQ(spool_.end(), all_.size());
    ASSERT_EQ(rest(spool_.begin()), expected()) << i;
    ASSERT_LE(spool_.end() - spool_.begin(), kRing);
  }
  EXPECT_GT(spool_.begin(), 5000U);
  EXPECT_LT(std::filesystem::file_size(path()), kRing + 5000);
}

TEST_F(LogSpoolTest, OutlivesItsProcess) {
  for (int i = 0; i < 200; ++i) {
    add("some text " + std::to_string(i));
    if (i % 3 == 0) {
      open();
      ASSERT_TRUE(spool_.taken_up());
    }
    if (i % 7 == 0) spool_.forget(spool_.end() - std::min<std::uint64_t>(20, spool_.end() - spool_.begin()));
    ASSERT_EQ(spool_.end(), all_.size());
    ASSERT_EQ(rest(spool_.begin()), expected()) << i;
  }
}

TEST_F(LogSpoolTest, WhatIsForgottenIsGoneInWholeChunks) {
  add("aaaa");
  add("bbbb");
  spool_.forget(6);
  EXPECT_EQ(spool_.begin(), 4U);
  EXPECT_EQ(spool_.find(6).position, 4U);
  spool_.forget(8);
  EXPECT_EQ(spool_.begin(), 8U);
  add("cc");
  EXPECT_EQ(rest(8), "cc");
}

TEST_F(LogSpoolTest, ANewPlaceIsTakenUp) {
  add("abc");
  spool_.skip_to(100);
  EXPECT_EQ(spool_.begin(), 100U);
  EXPECT_EQ(spool_.end(), 100U);
  spool_.append(push::Stream::kStderr, 1, "def");
  EXPECT_EQ(rest(100), "def");
}

TEST_F(LogSpoolTest, AFileThatTheCommandHasChangedCostsItsOutputOnly) {
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{20}, std::size_t{40}, std::size_t{4096}, std::size_t{4105}}) {
    spool_.remove();
    all_.clear();
    open();
    for (int i = 0; i < 30; ++i) add("some text of the command");
    {
      std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
      file.seekp(static_cast<std::streamoff>(at));
      file << std::string(16, '\xff');
    }
    const std::uint64_t end = spool_.end();
    (void)rest(spool_.begin());
    EXPECT_EQ(spool_.end(), end);
    open();
    spool_.append(push::Stream::kStdout, 1, "more");
    auto place = spool_.find(spool_.begin());
    std::string chunks;
    spool_.read(place, 100'000, chunks);
    EXPECT_LE(spool_.begin(), spool_.end()) << at;
  }
}

TEST_F(LogSpoolTest, AFullDiskDropsAndCounts) {
  spool_.remove();
  LogSpool full;
  EXPECT_FALSE(full.open("/dev/full/spool", kRing));
}

}  // namespace
}  // namespace gpupool::launcher
