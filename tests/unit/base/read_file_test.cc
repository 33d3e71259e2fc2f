// SPDX-License-Identifier: Apache-2.0
#include "base/read_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temporary_folder.h"

namespace gpupool::base {
namespace {

class ReadFileTest : public testing::Test {
 protected:
  std::string message(std::size_t max_bytes = kMiB) const {
    const auto read = read_file(path_, max_bytes);
    if (read) return "read";
    EXPECT_EQ(read.error().code, ErrorCode::kIo);
    return read.error().message;
  }

  const test::TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/file";
};

TEST_F(ReadFileTest, ReadsAllBytes) {
  const std::string text("a\0b\n", 4);
  std::ofstream(path_, std::ios::binary) << text;
  EXPECT_EQ(read_file(path_).value(), text);
}

TEST_F(ReadFileTest, SaysWhatIsWrong) {
  EXPECT_EQ(message(), path_ + ": No such file or directory");
  EXPECT_EQ(read_file(folder_.path()).error().message, folder_.path() + ": is a directory");
}

TEST_F(ReadFileTest, RefusesWhatIsTooLarge) {
  std::ofstream(path_) << std::string(kMiB, 'x');
  EXPECT_EQ(message(), "read");
  std::ofstream(path_, std::ios::app) << "x";
  EXPECT_EQ(message(), path_ + ": is larger than 1 MiB");
  EXPECT_EQ(message(2 * kMiB), "read");
}

TEST(TrimmedTest, LeavesOutWhiteSpaceAtBothEnds) {
  EXPECT_EQ(trimmed(" a b\r\n"), "a b");
  EXPECT_EQ(trimmed("\n\t "), "");
}

}  // namespace
}  // namespace gpupool::base
