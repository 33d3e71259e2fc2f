// SPDX-License-Identifier: Apache-2.0
#include "enforcement/kubelet_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpupool::enforcement {
namespace {

using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

std::string checkpoint(const std::string& entries) {
  return R"({"Data":{"PodDeviceEntries":)" + entries +
         R"(,"RegisteredDevices":{"gpupool.dev/vgpu":["a"]}},"Checksum":1})";
}

// Kubernetes 1.20 and later.
TEST(KubeletCheckpoint, ReadsDevicesByNumaNode) {
  const auto uids = read_checkpoint(checkpoint(
      R"([{"PodUID":"u1","ContainerName":"main","ResourceName":"gpupool.dev/vgpu",
           "DeviceIDs":{"-1":["GPU-0::0"],"0":["GPU-0::1","GPU-1::0"]},"AllocResp":"CgA="},
          {"PodUID":"u2","ContainerName":"main","ResourceName":"other/thing","DeviceIDs":{"0":["GPU-0::0"]}}])"));
  ASSERT_TRUE(uids.has_value()) << uids.error().message;
  EXPECT_THAT(*uids, UnorderedElementsAre(Pair(Pair("gpupool.dev/vgpu", "GPU-0::0"), "u1"),
                                          Pair(Pair("gpupool.dev/vgpu", "GPU-0::1"), "u1"),
                                          Pair(Pair("gpupool.dev/vgpu", "GPU-1::0"), "u1"),
                                          Pair(Pair("other/thing", "GPU-0::0"), "u2")));
}

TEST(KubeletCheckpoint, ReadsAListOfDevices) {
  const auto uids = read_checkpoint(
      checkpoint(R"([{"PodUID":"u1","ContainerName":"c","ResourceName":"r/r","DeviceIDs":["a","b"]}])"));
  ASSERT_TRUE(uids.has_value());
  EXPECT_EQ(uids->size(), 2U);
}

TEST(KubeletCheckpoint, ReadsANodeWithoutPods) {
  for (const char* none : {"null", "[]"}) {
    const auto uids = read_checkpoint(checkpoint(none));
    ASSERT_TRUE(uids.has_value());
    EXPECT_THAT(*uids, IsEmpty());
  }
}

TEST(KubeletCheckpoint, LeavesOutWhatItDoesNotUnderstand) {
  const auto uids = read_checkpoint(checkpoint(
      R"([{"PodUID":7,"ResourceName":"r/r","DeviceIDs":["a"]},{"PodUID":"u"},
          {"PodUID":"u","ResourceName":"r/r","DeviceIDs":{"0":"text","1":[1,["x"]],"2":["b"]}}])"));
  ASSERT_TRUE(uids.has_value());
  EXPECT_EQ(uids->count({"r/r", "b"}), 1U);
  EXPECT_EQ(uids->count({"r/r", "a"}), 0U);
  EXPECT_EQ(uids->count({"r/r", "x"}), 0U);
}

TEST(KubeletCheckpoint, AnUnknownFormIsAnError) {
  for (const char* text :
       {"", "{", "[]", "7", R"({"Data":7})", R"({"Data":{}})", R"({"Data":{"PodDeviceEntries":{"a":1}}})",
        R"({"Data":{"PodDeviceEntries":[7]}})"}) {
    const auto uids = read_checkpoint(text);
    ASSERT_FALSE(uids.has_value()) << text;
    EXPECT_EQ(uids.error().code, base::ErrorCode::kParse);
  }
}

}  // namespace
}  // namespace gpupool::enforcement
