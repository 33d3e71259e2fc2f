// SPDX-License-Identifier: Apache-2.0
#include "enforcement/region_store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "enforcement/region_use.h"
#include "tests/support/temporary_folder.h"

namespace gpupool::enforcement {
namespace {

namespace fs = std::filesystem;

class RegionStoreTest : public testing::Test {
 protected:
  static ino_t inode(const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
  }

  test::TemporaryFolder folder_;
  const RegionStore store_{folder_.path() + "/new/regions"};
  const allocation::RegionFile region_{"region-1", {{"GPU-0", 1000}, {"GPU-1", 0}}};
};

TEST_F(RegionStoreTest, MakesARegionThatEverybodyMayWrite) {
  ASSERT_TRUE(store_.renew(region_).has_value());
  const auto path = store_.path("region-1");
  EXPECT_EQ(fs::status(path).permissions() & fs::perms::all, fs::perms{0666});
  const auto use = read_region(path);
  ASSERT_TRUE(use.has_value()) << use.error().message;
  EXPECT_EQ(use->devices.size(), 2U);
  EXPECT_EQ(std::distance(fs::directory_iterator(store_.directory()), fs::directory_iterator()), 1);
}

TEST_F(RegionStoreTest, RenewPutsAnotherFileInItsPlace) {
  ASSERT_TRUE(store_.renew(region_).has_value());
  const auto before = inode(store_.path("region-1"));
  const int held = ::open(store_.path("region-1").c_str(), O_RDONLY);  // as a container has it mounted
  ASSERT_TRUE(store_.renew(region_).has_value());
  EXPECT_NE(inode(store_.path("region-1")), before);
  ::close(held);
}

TEST_F(RegionStoreTest, RestoreLeavesWhatIsThere) {
  ASSERT_TRUE(store_.restore(region_).has_value());
  const auto path = store_.path("region-1");
  const auto before = inode(path);
  ASSERT_TRUE(store_.restore(region_).has_value());
  EXPECT_EQ(inode(path), before);
  fs::resize_file(path, 7);  // a container may do that
  ASSERT_TRUE(store_.restore(region_).has_value());
  EXPECT_EQ(inode(path), before);
  EXPECT_EQ(fs::file_size(path), 7U);
}

// What a container runtime makes of a missing file.
TEST_F(RegionStoreTest, AnEmptyFolderIsReplaced) {
  fs::create_directories(store_.path("region-1"));
  ASSERT_TRUE(store_.restore(region_).has_value());
  EXPECT_TRUE(fs::is_regular_file(store_.path("region-1")));
}

TEST_F(RegionStoreTest, CollectsWhatNobodyNeeds) {
  for (const char* name : {"needed", "old", "new"})
    ASSERT_TRUE(store_.renew({name, {{"GPU-0", 1}}}).has_value());
  const auto now = std::chrono::system_clock::now();
  fs::last_write_time(store_.path("old"), fs::file_time_type::clock::now() - std::chrono::hours(25));
  fs::last_write_time(store_.path("needed"), fs::file_time_type::clock::now() - std::chrono::hours(25));
  EXPECT_EQ(store_.collect({"needed"}, now - std::chrono::hours(24)), 1);
  EXPECT_TRUE(fs::exists(store_.path("needed")));
  EXPECT_TRUE(fs::exists(store_.path("new")));
  EXPECT_FALSE(fs::exists(store_.path("old")));
}

TEST_F(RegionStoreTest, AnErrorNamesThePath) {
  std::ofstream(folder_.path() + "/new") << "a file";
  const auto made = store_.renew(region_);
  ASSERT_FALSE(made.has_value());
  EXPECT_NE(made.error().message.find(store_.directory()), std::string::npos) << made.error().message;
}

TEST_F(RegionStoreTest, KnowsTmpfs) {
  EXPECT_EQ(RegionStore("/dev/shm").problem(), "");
  EXPECT_EQ(store_.problem(), "");  // not made yet
  EXPECT_NE(RegionStore("/proc").problem(), "");
}

}  // namespace
}  // namespace gpupool::enforcement
