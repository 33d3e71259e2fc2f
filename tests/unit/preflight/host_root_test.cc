// SPDX-License-Identifier: Apache-2.0
#include "probes/host_root.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>

#include "kube/config/spawn.h"
#include "tests/unit/preflight/temporary_root.h"

namespace gpupool::probes {
namespace {

TEST(HostRoot, FollowsLinksAsTheMachineMeansThem) {
  const test::TemporaryRoot machine;
  machine.write("/run/cdi/nvidia.yaml", "inside\n");
  machine.link("/var/run", "/run");
  machine.link("/etc/cdi", "../var/run/cdi");
  machine.link("/escape", "../../../../etc/../run/cdi/nvidia.yaml");
  const auto root = machine.root();
  EXPECT_EQ(root.path("/var/run/cdi/nvidia.yaml"), machine.folder() + "/run/cdi/nvidia.yaml");
  EXPECT_EQ(root.line("/etc/cdi/nvidia.yaml"), "inside");
  EXPECT_EQ(root.line("/escape"), "inside");
  EXPECT_EQ(root.line("/var/run/../run/./cdi/nvidia.yaml"), "inside");
  EXPECT_EQ(root.names("/etc/cdi"), (std::vector<std::string>{"nvidia.yaml"}));
}

TEST(HostRoot, MissingIsNothing) {
  const test::TemporaryRoot machine;
  machine.link("/loop", "/loop");
  const auto root = machine.root();
  EXPECT_FALSE(root.exists("/etc/passwd"));
  EXPECT_FALSE(root.read("/etc/passwd"));
  EXPECT_EQ(root.line("/etc/passwd"), "");
  EXPECT_TRUE(root.names("/etc").empty());
  EXPECT_FALSE(root.exists("/loop"));
}

TEST(HostRoot, OfTheMachineItselfIsAsItIs) {
  const HostRoot root("/");
  EXPECT_TRUE(root.is_own());
  EXPECT_EQ(root.path("/no/such"), "/no/such");
  EXPECT_FALSE(root.line("/proc/sys/kernel/osrelease").empty());  // files in /proc have no size
}

// A socket's address is short, a path below a mounted root is not.
TEST(HostRoot, KnowsASocketThatAnswers) {
  const test::TemporaryRoot machine;
  const std::string folder = "/run/" + std::string(120, 'x');
  machine.write(folder + "/file", "");
  const auto root = machine.root();
  EXPECT_TRUE(root.socket(folder + "/file").exists);
  EXPECT_FALSE(root.socket(folder + "/file").answers);
  EXPECT_FALSE(root.socket(folder + "/none").exists);

  const base::UniqueFd directory(
      ::open((machine.folder() + folder).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const std::string name = "/proc/self/fd/" + std::to_string(directory.get()) + "/sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::ranges::copy(name, address.sun_path);
  base::UniqueFd server(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(server.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  EXPECT_FALSE(root.socket(folder + "/sock").answers);  // nobody listens yet
  ASSERT_EQ(::listen(server.get(), 1), 0);
  EXPECT_TRUE(root.socket(folder + "/sock").answers);
  server.reset(-1);
  EXPECT_TRUE(root.socket(folder + "/sock").exists);
  EXPECT_FALSE(root.socket(folder + "/sock").answers);
}

}  // namespace
}  // namespace gpupool::probes
