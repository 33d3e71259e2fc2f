// SPDX-License-Identifier: Apache-2.0
#include "enforcement/install_limiter.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/read_file.h"
#include "tests/support/temporary_folder.h"

namespace gpupool::enforcement {
namespace {

namespace fs = std::filesystem;

class InstallLimiterTest : public testing::Test {
 protected:
  void SetUp() override { make("one"); }
  void make(const std::string& content) const {
    fs::create_directories(from_);
    for (const char* name : {"libgpupool-vgpu.so", "libgpupool-vgpu-alias.so", "libgpupool-vgpu-nvml.so"}) {
      std::ofstream(from_ + "/" + name, std::ios::trunc) << name << content;
    }
  }
  std::string install() const {
    const auto done = install_limiter(from_, to_);
    EXPECT_TRUE(done.has_value()) << done.error().message;
    return done ? *done : "";
  }
  static ino_t inode(const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
  }

  test::TemporaryFolder folder_;
  const std::string from_ = folder_.path() + "/image";
  const std::string to_ = folder_.path() + "/node/limiter";
};

TEST_F(InstallLimiterTest, CopiesTheLibrariesAndWhatPreloadsThem) {
  const auto folder = install();
  EXPECT_EQ(installed_limiter(to_).value(), folder);
  EXPECT_EQ(base::read_file(folder + "/libgpupool-vgpu-nvml.so").value(), "libgpupool-vgpu-nvml.soone");
  EXPECT_EQ(base::read_file(folder + "/ld.so.preload").value(),
            "/usr/local/lib/gpupool/libgpupool-vgpu.so\n/usr/local/lib/gpupool/libgpupool-vgpu-alias.so\n"
            "/usr/local/lib/gpupool/libgpupool-vgpu-nvml.so\n");
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_EQ(entry.status().permissions(), fs::perms{0444}) << entry.path();
  }
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms{0755});
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 4);
}

TEST_F(InstallLimiterTest, AgainItChangesNothing) {
  const auto path = install() + "/libgpupool-vgpu.so";
  const auto before = inode(path);
  EXPECT_EQ(install() + "/libgpupool-vgpu.so", path);
  EXPECT_EQ(inode(path), before);
}

TEST_F(InstallLimiterTest, ANewVersionLeavesTheOldOne) {
  const auto old = install();
  const auto before = inode(old + "/libgpupool-vgpu.so");
  make("two");
  const auto now = install();
  EXPECT_NE(now, old);
  EXPECT_EQ(installed_limiter(to_).value(), now);
  EXPECT_EQ(inode(old + "/libgpupool-vgpu.so"), before);
  make("one");  // back again
  EXPECT_EQ(install(), old);
  EXPECT_EQ(installed_limiter(to_).value(), old);
}

// Of a loss of power, or of somebody's hand.
TEST_F(InstallLimiterTest, ADamagedFileIsReplacedByRenaming) {
  const auto path = install() + "/libgpupool-vgpu.so";
  const std::ifstream open(path);  // as a program has it mapped
  const auto before = inode(path);
  fs::permissions(path, fs::perms{0644});
  std::ofstream(path, std::ios::trunc) << "half";
  install();
  EXPECT_EQ(base::read_file(path).value(), "libgpupool-vgpu.soone");
  EXPECT_NE(inode(path), before);
}

TEST_F(InstallLimiterTest, WithoutALibraryNothingBecomesCurrent) {
  fs::remove(from_ + "/libgpupool-vgpu-alias.so");
  const auto done = install_limiter(from_, to_);
  ASSERT_FALSE(done.has_value());
  EXPECT_NE(done.error().message.find("libgpupool-vgpu-alias.so"), std::string::npos);
  EXPECT_FALSE(installed_limiter(to_).has_value());
}

TEST_F(InstallLimiterTest, ADamagedNameIsRefused) {
  install();
  for (const char* name : {"", "\n", "../../etc", "0a1b", "0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3D"}) {
    fs::remove(to_ + "/current");
    std::ofstream(to_ + "/current") << name;
    EXPECT_FALSE(installed_limiter(to_).has_value()) << name;
  }
}

}  // namespace
}  // namespace gpupool::enforcement
