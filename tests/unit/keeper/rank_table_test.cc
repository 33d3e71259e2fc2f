// SPDX-License-Identifier: Apache-2.0
#include "ingest/rank_table.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/temporary_folder.h"
#include "tests/unit/keeper/chunks.h"

namespace gpupool::keeper {
namespace {

namespace push = api::log_push;

class RankTableTest : public testing::Test {
 protected:
  void SetUp() override { open({}); }

  void open(const Limits& limits) {
    table_.reset();
    attempts_ = std::move(*Attempts::open(folder_.path(), limits, clock_));
    table_.emplace(*attempts_, clock_);
    ASSERT_TRUE(attempts_->enter({.id = key_.first, .job = "job"}, 0));
    ASSERT_TRUE(table_->open(key_));
  }
  base::Result<void> frame(std::uint64_t position, const std::string& chunks) {
    std::string payload;
    push::put(payload, position);
    return table_->add_frame(key_, payload + chunks);
  }
  base::Result<void> lost(std::uint64_t position, std::uint64_t bytes) {
    std::string payload;
    push::put(payload, position);
    push::put(payload, bytes);
    return table_->add_lost(key_, payload);
  }
  std::string stored() const { return test::stored_text(attempts_->folder(key_.first), 0); }

  base::SystemClock clock_;
  test::TemporaryFolder folder_;
  std::unique_ptr<Attempts> attempts_;
  std::optional<RankTable> table_;
  RankKey key_{{"lab", "u", 1}, 0};
};

TEST_F(RankTableTest, WhatIsKnownIsLeftOut) {
  ASSERT_TRUE(frame(0, test::chunk_of("abc") + test::chunk_of("def")));
  EXPECT_EQ(table_->next(key_), 6U);
  ASSERT_TRUE(frame(0, test::chunk_of("abc") + test::chunk_of("defgh")));  // cut within a chunk
  ASSERT_TRUE(frame(2, test::chunk_of("cdef")));                           // nothing new
  ASSERT_TRUE(frame(8, test::chunk_of("ij")));
  EXPECT_EQ(stored(), "abcdefghij");
}

TEST_F(RankTableTest, AGapIsRefused) {
  EXPECT_EQ(frame(1, test::chunk_of("a")).error().code, base::ErrorCode::kInvalidArgument);
  EXPECT_EQ(lost(1, 5).error().code, base::ErrorCode::kInvalidArgument);
  EXPECT_EQ(table_->next(key_), 0U);
}

TEST_F(RankTableTest, LossesComeBetween) {
  ASSERT_TRUE(frame(0, test::chunk_of("abc")));
  ASSERT_TRUE(lost(3, 100));
  ASSERT_TRUE(lost(3, 100));   // told again
  ASSERT_TRUE(lost(50, 100));  // in part
  EXPECT_EQ(table_->next(key_), 150U);
  ASSERT_TRUE(frame(150, test::chunk_of("def")));
  ASSERT_TRUE(table_->end(key_, R"({"outcome":"exited","exit":3})"));
  EXPECT_EQ(stored(), "abc<147>def");
  const auto info = attempts_->find(key_.first);
  EXPECT_EQ(info->lost, 147U);
  EXPECT_EQ(info->failure->exit_code, 3);
}

TEST_F(RankTableTest, BeyondALimitOutputIsLostAndTheEndIsTold) {
  open({.job_bytes = 1000});
  ASSERT_TRUE(frame(0, test::chunk_of(test::noise(2000, 1))));
  for (std::uint64_t at = 2000; at < 5000; at += 1000)
    ASSERT_TRUE(frame(at, test::chunk_of(test::noise(1000, at))));
  EXPECT_EQ(table_->next(key_), 5000U);
  ASSERT_TRUE(table_->end(key_, R"({"outcome":"exited","exit":0})"));
  EXPECT_EQ(stored(), test::noise(2000, 1) + "<3000>");
  EXPECT_EQ(attempts_->find(key_.first)->ended_ranks, 1);
}

TEST_F(RankTableTest, ABatchIsWhatHasChanged) {
  EXPECT_FALSE(table_->dirty());
  ASSERT_TRUE(frame(0, test::chunk_of("abc")));
  ASSERT_TRUE(table_->dirty());
  auto batch = table_->take_batch();
  ASSERT_EQ(batch.ranks.size(), 1U);
  EXPECT_EQ(batch.ranks[0].position, 3U);
  EXPECT_FALSE(table_->dirty());
  ASSERT_TRUE(frame(3, test::chunk_of("d")));  // while the disk is synced
  table_->not_synced(std::move(batch));
  batch = table_->take_batch();
  EXPECT_EQ(batch.ranks[0].position, 4U);
  table_->close(key_);
  table_->synced(batch);
  ASSERT_TRUE(table_->open(key_));
  EXPECT_EQ(table_->next(key_), 4U);
}

TEST_F(RankTableTest, RawFilesAreRemovedWhenTheirFrameIsOnTheDisk) {
  for (std::uint64_t i = 0; i < 10; ++i)
    ASSERT_TRUE(frame(i * 50'000, test::chunk_of(test::noise(50'000, i))));
  const auto files = [&] {
    const auto folder = attempts_->folder(key_.first);
    return std::distance(std::filesystem::directory_iterator(folder), std::filesystem::directory_iterator());
  };
  const auto before = files();
  const auto batch = table_->take_batch();
  EXPECT_FALSE(batch.obsolete.empty());
  EXPECT_EQ(files(), before);
  table_->synced(batch);
  EXPECT_EQ(files(), before - static_cast<std::ptrdiff_t>(batch.obsolete.size()));
}

}  // namespace
}  // namespace gpupool::keeper
