// SPDX-License-Identifier: Apache-2.0
#include "enforcement/counted_container.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tests/support/temporary_folder.h"

namespace gpupool::enforcement {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

class CountedContainerTest : public testing::Test {
 protected:
  CountedContainerTest() {
    EXPECT_TRUE(store_.renew({"r", {{"GPU-0", 1000}}}).has_value());
    size_ = fs::file_size(path_);
  }
  CountedContainer count() const {
    return count_containers(store_, {{"lab", "pod", "uid", "main", "r", {{"GPU-0", 1000, {}}}}}).at(0);
  }
  std::uint64_t allocated() const {
    struct stat status{};
    EXPECT_EQ(::stat(path_.c_str(), &status), 0);
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
  }

  test::TemporaryFolder folder_;
  const RegionStore store_{folder_.path()};
  const std::string path_ = store_.path("r");
  std::uintmax_t size_ = 0;
};

TEST_F(CountedContainerTest, ARegionThatIsReadHasAUse) {
  const auto one = count();
  ASSERT_TRUE(one.use.has_value()) << one.problem;
  EXPECT_THAT(one.use->reasons, IsEmpty());
  EXPECT_EQ(why_off(one), "");
}

TEST_F(CountedContainerTest, WhatCannotBeReadIsOff) {
  fs::resize_file(path_, 100);
  EXPECT_FALSE(count().use.has_value());
  EXPECT_THAT(count().problem, testing::HasSubstr("shorter"));
  EXPECT_EQ(why_off(count()), "RegionUnreadable");
  fs::remove(path_);
  EXPECT_EQ(why_off(count()), "RegionUnreadable");
}

TEST_F(CountedContainerTest, ALimiterWithoutLimitsIsOffAndOneThatRefusesIsNot) {
  CountedContainer one;
  one.use.emplace().reasons = {"NoSlot", "UnknownNames"};
  EXPECT_EQ(why_off(one), "");
  one.use->reasons = {"NoLimits", "UnknownNames"};
  EXPECT_EQ(why_off(one), "NoLimits");
}

// A container that writes behind its region fills the memory of the node.
TEST_F(CountedContainerTest, WhatIsBehindTheEndIsCutOff) {
  fs::resize_file(path_, size_ + 1);
  auto one = count();
  ASSERT_TRUE(one.use.has_value()) << one.problem;
  EXPECT_THAT(one.use->reasons, ElementsAre("Oversized"));
  EXPECT_EQ(fs::file_size(path_), size_);
  one = count();
  EXPECT_THAT(one.use->reasons, IsEmpty());
}

TEST_F(CountedContainerTest, MemoryBehindTheEndThatNoSizeShowsIsGivenBack) {
  const int fd = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(::fallocate(fd, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(size_), static_cast<off_t>(4 * size_)),
            0);
  ::close(fd);
  ASSERT_EQ(fs::file_size(path_), size_);
  ASSERT_GT(allocated(), 4 * size_);
  EXPECT_THAT(count().use->reasons, Contains("Oversized"));
  EXPECT_LE(allocated(), 2 * size_);
}

TEST_F(CountedContainerTest, WhatIsNoFileIsLeftAlone) {
  fs::remove(path_);
  const auto other = folder_.path() + "/other";
  fs::copy("/proc/self/exe", other);
  const auto before = fs::file_size(other);
  ASSERT_GT(before, size_);
  fs::create_symlink(other, path_);
  EXPECT_FALSE(store_.cut("r"));
  EXPECT_EQ(fs::file_size(other), before);
  EXPECT_FALSE(store_.cut("none"));
}

}  // namespace
}  // namespace gpupool::enforcement
