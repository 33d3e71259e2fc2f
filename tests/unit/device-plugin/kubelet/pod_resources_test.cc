// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <thread>

#include "kubelet/pod_resources.h"
#include "tests/fake-kubelet/fake_pod_resources.h"
#include "tests/unit/device-plugin/kubelet/plugin_on_node.h"

namespace gpupool::test {
namespace {

using base::ErrorCode;
using testing::ElementsAre;

class PodResourcesTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  const std::string socket_ = folder_.path() + "/kubelet.sock";
  kubelet::PodResources pods_{socket_};
};

TEST_F(PodResourcesTest, ListsWhatContainersHold) {
  FakePodResources server(socket_);
  server.hold({{"team", "train-0", "main", kVgpu, {"GPU-0::1", "GPU-0::2"}},
               {"team", "train-0", "side", "rdma/hca", {"mlx5_0"}}});
  const auto listed = pods_.list({});
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_THAT(*listed,
              ElementsAre(kubelet::Holding{"team", "train-0", "main", kVgpu, {"GPU-0::1", "GPU-0::2"}},
                          kubelet::Holding{"team", "train-0", "side", "rdma/hca", {"mlx5_0"}}));
}

TEST_F(PodResourcesTest, JoinsDevicesThatAreListedOneByOne) {
  FakePodResources server(socket_);
  server.split_entries(true);
  server.hold({{"team", "train-0", "main", kVgpu, {"GPU-0::1", "GPU-0::2"}}});
  const auto listed = pods_.list({});
  ASSERT_TRUE(listed) << listed.error().message;
  EXPECT_THAT(*listed,
              ElementsAre(kubelet::Holding{"team", "train-0", "main", kVgpu, {"GPU-0::1", "GPU-0::2"}}));
}

TEST_F(PodResourcesTest, TakesAnswersAboveGrpcsUsualLimit) {
  FakePodResources server(socket_);
  const std::string id(60, 'x');
  server.hold(std::vector<FakePodResources::Held>(
      1000, {"team", "train", "main", kVgpu, std::vector<std::string>(100, id)}));
  const auto listed = pods_.list({});
  ASSERT_TRUE(listed) << listed.error().message;
}

TEST_F(PodResourcesTest, ComesBackWithTheKubelet) {
  EXPECT_EQ(pods_.list({}).error().code, ErrorCode::kTransport);
  auto server = std::make_unique<FakePodResources>(socket_);
  // gRPC may still wait before it connects again.
  base::Result<std::vector<kubelet::Holding>> listed;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!(listed = pods_.list({})) && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
  ASSERT_TRUE(listed) << listed.error().message;
  server.reset();
  EXPECT_FALSE(pods_.list({}));
}

TEST_F(PodResourcesTest, TellsWhichDevicesTheKubeletKnows) {
  FakePodResources server(socket_);
  EXPECT_EQ(pods_.allocatable(kVgpu, {}).error().code, ErrorCode::kInvalid);
  server.allocatable({{kVgpu, {"a", "b"}}, {"rdma/hca", {"c"}}});
  EXPECT_THAT(pods_.allocatable(kVgpu, {}).value(), ElementsAre("a", "b"));
}

TEST_F(PodResourcesTest, IsCancelled) {
  const FakePodResources server(socket_);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(pods_.list(stop.get_token()).error().code, ErrorCode::kCancelled);
}

}  // namespace
}  // namespace gpupool::test
