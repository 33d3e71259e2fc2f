// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "tests/unit/limiter/region_world.h"

namespace gpupool::limiter::testing {
namespace {

using RegionFile = RegionTest;

State problem_of(const std::string& path) {
  MappedRegion mapped = map_region(path.c_str());
  const State problem = mapped.region == nullptr ? mapped.problem : State{};
  unmap_region(mapped);
  return problem;
}

TEST_F(RegionFile, IsMadeOnceForAllUsersWithAllItsPages) {
  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0666U);
  EXPECT_EQ(static_cast<std::size_t>(status.st_size), sizeof(Region));
  EXPECT_GE(static_cast<std::size_t>(status.st_blocks) * 512, sizeof(Region));
  EXPECT_EQ(create_region(path_.c_str(), {}), EEXIST);
  EXPECT_EQ(create_region((folder_ + "/none/region").c_str(), {}), ENOENT);
  EXPECT_EQ(problem_of(path_), State{});
}

TEST_F(RegionFile, KeepsWhatFitsOfDevices) {
  const std::string uuid(100, 'u');
  const std::vector<RegionDevice> devices(20, RegionDevice{uuid, 5});
  ASSERT_EQ(create_region((folder_ + "/many").c_str(), devices), 0);
  path_ = folder_ + "/many";
  EXPECT_EQ(seen().device_count, kMaxDevices);
  EXPECT_EQ(std::string(seen().devices[15].uuid.data()), std::string(63, 'u'));
}

TEST_F(RegionFile, OfAnotherLayoutIsRefusedAndSaysSo) {
  overwrite(offsetof(Region, layout), std::uint32_t{2});
  EXPECT_EQ(problem_of(path_), kWrongRegion);
  std::uint32_t state = 0;
  std::memcpy(&state, content().data() + offsetof(Region, state), sizeof(state));
  EXPECT_EQ(state, kWrongRegion);
  EXPECT_EQ(view::kind(content()), view::Kind::kOtherLayout);
}

TEST_F(RegionFile, OfAnotherSizeIsRefusedAndSaysSo) {
  std::filesystem::resize_file(path_, sizeof(Region) + 4096);
  EXPECT_EQ(problem_of(path_), kWrongRegion);
  EXPECT_EQ(seen().state, kWrongRegion);
  std::filesystem::resize_file(path_, 8);
  EXPECT_EQ(problem_of(path_), kWrongRegion);
  std::filesystem::resize_file(path_, 0);
  EXPECT_EQ(problem_of(path_), kWrongRegion);
}

TEST_F(RegionFile, ThatIsNoRegionIsLeftAlone) {
  overwrite(0, std::uint64_t{0x1234});
  const auto before = content();
  EXPECT_EQ(problem_of(path_), kWrongRegion);
  EXPECT_EQ(content(), before);
}

TEST_F(RegionFile, ThatCannotBeOpenedIsNoRegion) {
  EXPECT_EQ(problem_of(folder_ + "/none"), kNoRegion);
  EXPECT_EQ(problem_of(folder_), kNoRegion);
  ASSERT_EQ(::mkfifo((folder_ + "/pipe").c_str(), 0666), 0);
  EXPECT_EQ(problem_of(folder_ + "/pipe"), kNoRegion);
  std::filesystem::create_symlink(path_, folder_ + "/link");
  EXPECT_EQ(problem_of(folder_ + "/link"), kNoRegion);
}

TEST_F(RegionFile, DescriptorIsFoundLostAndRenewed) {
  MappedRegion mapped = map_region(path_.c_str());
  ASSERT_TRUE(descriptor_is_good(mapped));
  ::close(mapped.fd);
  EXPECT_FALSE(descriptor_is_good(mapped));
  const int other = ::open("/dev/null", O_RDWR);  // gets the number
  EXPECT_EQ(other, mapped.fd);
  EXPECT_FALSE(descriptor_is_good(mapped));
  EXPECT_FALSE(renew_descriptor(mapped, "/dev/null"));
  EXPECT_TRUE(renew_descriptor(mapped, path_.c_str()));
  EXPECT_TRUE(descriptor_is_good(mapped));
  EXPECT_NE(mapped.fd, other);
  unmap_region(mapped);
  ::close(other);
}

}  // namespace
}  // namespace gpupool::limiter::testing
