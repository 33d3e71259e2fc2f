// SPDX-License-Identifier: Apache-2.0
#include "kube/config/file_token.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/manual_clock.h"
#include "tests/unit/kube/temp_dir.h"

namespace gpupool::kube {
namespace {

using namespace std::chrono_literals;

class FileTokenTest : public ::testing::Test {
 protected:
  test::TempDir dir_;
  test::ManualClock clock_;
  const std::string path_ = dir_.write("token", "one\n");
  const std::shared_ptr<FileToken> tokens_ = *FileToken::open(path_, clock_);
};

TEST_F(FileTokenTest, IsReadAgainAfterAMinuteAtMost) {
  dir_.write("token", " two \n");
  EXPECT_EQ(*tokens_->token({}), "one");
  clock_.advance(40s);
  EXPECT_EQ(*tokens_->token({}), "one");
  clock_.advance(20s);
  EXPECT_EQ(*tokens_->token({}), "two");
}

TEST_F(FileTokenTest, IsReadAgainAfterA401) {
  dir_.write("token", "two");
  tokens_->invalidate("another");
  EXPECT_EQ(*tokens_->token({}), "one");
  tokens_->invalidate("one");
  EXPECT_EQ(*tokens_->token({}), "two");
}

TEST_F(FileTokenTest, TheOldOneStaysWhileTheFileIsGoneOrEmpty) {
  std::filesystem::remove(path_);
  clock_.advance(2min);
  EXPECT_EQ(*tokens_->token({}), "one");
  dir_.write("token", " \n");
  EXPECT_EQ(*tokens_->token({}), "one");
  dir_.write("token", "three");
  EXPECT_EQ(*tokens_->token({}), "three");
}

TEST_F(FileTokenTest, AtStartItMustBeThere) {
  const auto missing = FileToken::open(dir_.path("none"), clock_);
  ASSERT_FALSE(missing.has_value());
  EXPECT_NE(missing.error().message.find(dir_.path("none")), std::string::npos);
  EXPECT_FALSE(FileToken::open(dir_.write("empty", "\n"), clock_).has_value());
}

}  // namespace
}  // namespace gpupool::kube
