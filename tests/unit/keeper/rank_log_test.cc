// SPDX-License-Identifier: Apache-2.0
#include "store/rank_log.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "store/rank_files.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/keeper/chunks.h"

namespace gpupool::keeper {
namespace {

namespace fs = std::filesystem;

class RankLogTest : public testing::Test {
 protected:
  RankLogTest() { open(); }

  // As a new process does.
  void open() {
    log_.reset();
    auto opened = RankLog::open(folder_.path(), 0);
    ASSERT_TRUE(opened) << opened.error().message;
    log_ = std::move(*opened);
  }
  void add(const std::string& text) {
    ASSERT_TRUE(log_->append(test::chunk_of(text), text.size(), 1));
    text_ += text;
  }
  void sync() {
    for (const auto& file : log_->take_obsolete()) fs::remove(file);
  }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()));
  }
  std::string stored() const { return test::stored_text(folder_.path(), 0); }

  test::TemporaryFolder folder_;
  std::unique_ptr<RankLog> log_;
  std::string text_;
};

TEST_F(RankLogTest, WhatIsAppendedIsReadBeforeAndAfterItIsAFrame) {
  for (int i = 0; i < 40; ++i) {
    add(test::noise(20'000, static_cast<std::uint64_t>(i)));
    EXPECT_EQ(stored(), text_) << i;
    if (i % 7 == 0) sync();
    EXPECT_EQ(stored(), text_) << i;
  }
  EXPECT_EQ(log_->next(), text_.size());
  sync();
  EXPECT_EQ(files(), 2U);  // frames, and the rest
  EXPECT_EQ(test::stored_text(folder_.path(), 0, 20'000), text_.substr(20'000));
}

TEST_F(RankLogTest, AProcessThatWasKilledLosesNothing) {
  for (int i = 0; i < 60; ++i) {
    add(test::noise(30'000, static_cast<std::uint64_t>(i)));
    if (i % 9 == 0) sync();
    if (i % 4 == 0) open();
    ASSERT_EQ(log_->next(), text_.size()) << i;
    ASSERT_EQ(stored(), text_) << i;
  }
}

TEST_F(RankLogTest, WhatIsNotWholeIsCutOff) {
  for (int i = 0; i < 20; ++i) add(test::noise(30'000, static_cast<std::uint64_t>(i)));
  const std::string raw = raw_file(folder_.path(), 0, raw_positions(folder_.path(), 0).back());
  std::ofstream(raw, std::ios::app) << test::chunk_of("not whole").substr(0, 15);
  std::ofstream(log_file(folder_.path(), 0), std::ios::app) << std::string(100, 'x');
  open();
  EXPECT_EQ(log_->next(), text_.size());
  add("and on");
  EXPECT_EQ(stored(), text_);
}

// A frame that did not reach the disk: the raw file of which it was made is still there.
TEST_F(RankLogTest, AFrameThatTheDiskHasLostIsMadeAgain) {
  for (int i = 0; i < 12; ++i) add(test::noise(30'000, static_cast<std::uint64_t>(i)));
  ASSERT_EQ(raw_positions(folder_.path(), 0).size(), 2U);
  {
    std::fstream frames(log_file(folder_.path(), 0), std::ios::in | std::ios::out);
    frames.seekp(5'000);
    frames << std::string(1000, '\0');
  }
  open();
  EXPECT_EQ(log_->next(), text_.size());
  EXPECT_EQ(stored(), text_);
  for (int i = 0; i < 12; ++i) add(test::noise(30'000, static_cast<std::uint64_t>(i)));
  sync();
  open();
  EXPECT_EQ(stored(), text_);
}

TEST_F(RankLogTest, LossesAreKept) {
  add("one");
  ASSERT_TRUE(log_->lose(1000, 2));
  add("two");
  EXPECT_EQ(log_->next(), 1006U);
  open();
  EXPECT_EQ(log_->next(), 1006U);
  EXPECT_EQ(log_->lost(), 1000U);
  ASSERT_TRUE(log_->end("{}"));
  EXPECT_EQ(stored(), "one<1000>two");
  open();
  EXPECT_EQ(log_->lost(), 1000U);
  EXPECT_TRUE(log_->ended());
  EXPECT_EQ(log_->next(), 1006U);
}

TEST_F(RankLogTest, AnEndWithoutOutput) {
  ASSERT_TRUE(log_->end("{}"));
  open();
  EXPECT_TRUE(log_->ended());
  EXPECT_EQ(stored(), "");
}

TEST_F(RankLogTest, PlacesLeadToLaterBlocks) {
  for (int i = 0; i < 60; ++i) {
    const std::string text = test::noise(30'000, static_cast<std::uint64_t>(i));
    ASSERT_TRUE(log_->append(test::chunk_of(text, static_cast<std::uint64_t>(i)), text.size(),
                             static_cast<std::uint64_t>(i)));
    text_ += text;
  }
  RankReader reader(folder_.path(), 0);
  const auto places = reader.places();
  ASSERT_TRUE(places);
  EXPECT_GT(places->size(), 5U);
  for (const auto& place : *places)
    EXPECT_EQ(test::stored_text(folder_.path(), 0, place.begin), text_.substr(place.begin));
}

}  // namespace
}  // namespace gpupool::keeper
