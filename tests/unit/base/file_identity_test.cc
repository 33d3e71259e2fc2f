// SPDX-License-Identifier: Apache-2.0
#include "base/file_identity.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/unique_fd.h"
#include "tests/support/temporary_folder.h"

namespace gpupool::test {
namespace {

namespace fs = std::filesystem;

class FileIdentity : public testing::Test {
 protected:
  void make_socket() const {
    fs::remove(socket_);
    const base::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::ranges::copy(socket_, address.sun_path);
    ASSERT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }

  const TemporaryFolder folder_;
  const std::string socket_ = folder_.path() + "/kubelet.sock";
};

TEST_F(FileIdentity, NothingDoesNotExist) {
  EXPECT_FALSE(base::identify(socket_).exists());
  EXPECT_FALSE(base::is_socket(socket_));
}

// A removal changes the number of links a moment before the path is gone.
TEST_F(FileIdentity, StaysWhileTheSocketIsBeingRemoved) {
  make_socket();
  EXPECT_TRUE(base::is_socket(socket_));
  const auto before = base::identify(socket_);
  ASSERT_TRUE(before.exists());
  fs::create_hard_link(socket_, socket_ + ".link");
  EXPECT_EQ(base::identify(socket_), before);
  fs::remove(socket_ + ".link");
  EXPECT_EQ(base::identify(socket_), before);
}

TEST_F(FileIdentity, IsAnotherAfterARestartEvenWithTheSameInode) {
  make_socket();
  const auto before = base::identify(socket_);
  make_socket();
  EXPECT_NE(base::identify(socket_), before);
}

TEST_F(FileIdentity, ALinkIsAFileOfItsOwnUnlessItIsFollowed) {
  const auto file = folder_.path() + "/file";
  const auto link = folder_.path() + "/link";
  std::ofstream(file) << "text";
  fs::create_symlink(file, link);
  EXPECT_NE(base::identify(link), base::identify(file));
  EXPECT_EQ(base::identify(link, base::Links::kFollowed), base::identify(file));
}

}  // namespace
}  // namespace gpupool::test
