// SPDX-License-Identifier: Apache-2.0
#include "enforcement/process_owner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temporary_folder.h"

namespace gpupool::enforcement {
namespace {

constexpr const char* kUid = "8d12a9e1-3c5b-4c7e-9f0a-1b2c3d4e5f60";

TEST(ProcessOwner, KnowsTheCgroupsOfKubelets) {
  const std::string uid = kUid;
  const std::string systemd = "kubepods-burstable-pod8d12a9e1_3c5b_4c7e_9f0a_1b2c3d4e5f60.slice";
  const std::vector<std::string> paths = {
      "/kubepods.slice/kubepods-burstable.slice/" + systemd + "/cri-containerd-0a1b.scope",
      "/kubepods.slice/kubepods-pod8d12a9e1_3c5b_4c7e_9f0a_1b2c3d4e5f60.slice/crio-0a1b.scope",
      "/kubepods/besteffort/pod" + uid + "/0a1b",
      "/kubepods/pod" + uid + "/0a1b",
      "/lab/node-1/kubepods/burstable/pod" + uid + "/0a1b",
      // From a container with a cgroup namespace of its own.
      "/../../" + systemd + "/cri-containerd-0a1b.scope",
      "/../../pod" + uid + "/0a1b",
  };
  for (const std::string& path : paths) {
    EXPECT_EQ(pod_of_cgroup("0::" + path + "\n"), uid) << path;
    EXPECT_EQ(pod_of_cgroup("12:cpu,cpuacct:" + path), uid) << path;
  }
}

TEST(ProcessOwner, LooksAtAllHierarchies) {
  const std::string text =
      std::string("3:freezer:/\n2:memory:/kubepods/burstable/pod") + kUid + "/0a1b\n1:name=systemd:/\n";
  EXPECT_EQ(pod_of_cgroup(text), kUid);
}

// A container can make cgroups below its own.
TEST(ProcessOwner, ANestedCgroupDoesNotMakeAnotherPod) {
  const std::string text = std::string("0::/kubepods/burstable/pod") + kUid +
                           "/0a1b/kubepods/burstable/podffffffff-3c5b-4c7e-9f0a-1b2c3d4e5f60/c\n";
  EXPECT_EQ(pod_of_cgroup(text), kUid);
}

TEST(ProcessOwner, OtherProcessesAreOfNoPod) {
  for (const char* text :
       {"", "0::/", "0::/system.slice/ssh.service\n", "0::/user.slice/podcast/x\n", "nonsense",
        "0::/kubepods/burstable\n", "0::/kubepods/burstable/podXYZ/0a1b", "0::", ":::/kubepods/pod/",
        "0::/init/pod8d12a9e1-3c5b-4c7e-9f0a-1b2c3d4e5f60/x"}) {
    EXPECT_EQ(pod_of_cgroup(text), "") << text;
  }
}

TEST(ProcessOwner, ReadsProcfs) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path() + "/42");
  std::ofstream(folder.path() + "/42/cgroup") << "0::/kubepods/pod" << kUid << "/0a1b\n";
  EXPECT_EQ(pod_of_process(42, folder.path()), kUid);
  EXPECT_EQ(pod_of_process(43, folder.path()), "");
  EXPECT_EQ(pod_of_process(::getpid()), "");
}

}  // namespace
}  // namespace gpupool::enforcement
