#include "kubelet/file_identity.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/fake-kubelet/fake_kubelet.h"
#include "tests/unit/device-plugin/kubelet/plugin_on_node.h"

namespace gpupool::test {
namespace {

namespace fs = std::filesystem;

class FileIdentity : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string socket_ = folder_.path() + "/kubelet.sock";
  FakeKubelet kubelet_{folder_.path()};
};

TEST_F(FileIdentity, NothingDoesNotExist) { EXPECT_FALSE(kubelet::identify(socket_).exists()); }

// A removal changes the number of links a moment before the path is gone.
TEST_F(FileIdentity, StaysWhileTheSocketIsBeingRemoved) {
  kubelet_.start();
  const auto before = kubelet::identify(socket_);
  ASSERT_TRUE(before.exists());
  fs::create_hard_link(socket_, socket_ + ".link");
  EXPECT_EQ(kubelet::identify(socket_), before);
  fs::remove(socket_ + ".link");
  EXPECT_EQ(kubelet::identify(socket_), before);
}

TEST_F(FileIdentity, IsAnotherAfterARestartEvenWithTheSameInode) {
  kubelet_.start();
  const auto before = kubelet::identify(socket_);
  kubelet_.restart();
  EXPECT_NE(kubelet::identify(socket_), before);
}

}  // namespace
}  // namespace gpupool::test
