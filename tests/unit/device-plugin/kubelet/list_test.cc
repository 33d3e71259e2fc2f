// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <grpcpp/support/status_code_enum.h>

#include "kubelet/messages.h"
#include "slices/cut.h"
#include "tests/unit/device-plugin/kubelet/served_plugin.h"

namespace gpupool::test {
namespace {

class ListTest : public ServedPlugin {
 protected:
  static int unhealthy(const ListStreamReader& stream) {
    int count = 0;
    for (const auto& [id, device] : stream.devices()) count += device.health() == "Unhealthy" ? 1 : 0;
    return count;
  }
};

TEST_F(ListTest, Checklist04IdsAreShortAndTheSameAfterARestart) {
  auto table = vgpu_table(1, 100);
  auto& resource = table.resources.front();
  const std::string uuid = "GPU-fef8089b-4820-abfc-e83e-94318197576e";
  resource.gpus.front().uuid = uuid;
  for (auto& slice : resource.slices) {
    slice.gpu = uuid;
    slice.id = slices::slice_id(uuid, slice.ordinal);
  }
  node_.latest_table.publish(table);
  ListStreamReader::Devices before;
  {
    const ListStreamReader stream(*client_);
    ASSERT_TRUE(stream.wait([](const auto& s) { return s.devices().size() == 100; }));
    before = stream.devices();
  }
  server_.reset();
  SetUp();
  const ListStreamReader stream(*client_);
  ASSERT_TRUE(stream.wait([](const auto& s) { return s.devices().size() == 100; }));
  const auto after = stream.devices();
  for (const auto& [id, device] : before) {
    EXPECT_LE(id.size(), 63U) << id;
    EXPECT_TRUE(after.contains(id)) << id;
  }
}

TEST_F(ListTest, Checklist08SendsTheWholeListAtOnceAndEveryChangeToEveryStream) {
  publish();
  const ListStreamReader first(*client_);
  const PluginClient another(socket_);
  const ListStreamReader second(another);
  const ListStreamReader third(another);
  const auto all = {&first, &second, &third};
  for (const auto* stream : all) {
    ASSERT_TRUE(stream->wait([](const auto& s) { return s.messages() == 1; }));
    EXPECT_EQ(stream->devices().size(), 10U);
    EXPECT_EQ(unhealthy(*stream), 0);
  }
  for (int round = 0; round < 20; ++round) {
    const auto failed = "GPU-" + std::to_string(round % 2);
    node_.latest_table.publish(with_unhealthy_gpu(vgpu_table(2, 5), failed, "Xid79"));
    for (const auto* stream : all) {
      EXPECT_TRUE(stream->wait([&](const auto& s) {
        return unhealthy(s) == 5 && s.devices().at(failed + "::0").health() == "Unhealthy";
      })) << round;
    }
  }
}

TEST_F(ListTest, Checklist08ADeviceThatIsNotListedVanishes) {
  publish();
  const ListStreamReader stream(*client_);
  ASSERT_TRUE(stream.wait([](const auto& s) { return s.devices().size() == 10; }));
  node_.latest_table.publish(vgpu_table(1, 5));
  EXPECT_TRUE(stream.wait([](const auto& s) { return s.devices().size() == 5; }));
}

TEST_F(ListTest, Checklist08ASlowReaderGetsTheNewestList) {
  // Large enough to fill the connection's window.
  node_.latest_table.publish(vgpu_table(8, 5000));
  ListStreamReader slow(*client_);
  slow.hold();
  ASSERT_TRUE(slow.wait([](const auto& s) { return s.messages() >= 1; }));
  for (int round = 1; round <= 50; ++round) {
    node_.latest_table.publish(
        with_unhealthy_gpu(vgpu_table(8, 5000), "GPU-" + std::to_string(round % 8), "busy"));
  }
  node_.latest_table.publish(vgpu_table(1, 3));
  const ListStreamReader quick(*client_);
  EXPECT_TRUE(quick.wait([](const auto& s) { return s.devices().size() == 3; }));
  slow.go_on();
  EXPECT_TRUE(slow.wait([](const auto& s) { return s.devices().size() == 3; }));
  EXPECT_LT(slow.messages(), 50U) << "lists that were replaced meanwhile need not be sent";
}

TEST_F(ListTest, Checklist09SendsOnlyOnChange) {
  publish();
  const ListStreamReader stream(*client_);
  ASSERT_TRUE(stream.wait([](const auto& s) { return s.messages() == 1; }));
  EXPECT_FALSE(node_.latest_table.publish(vgpu_table(2, 5)));
  node_.latest_table.publish(vgpu_table(1, 5));
  ASSERT_TRUE(stream.wait([](const auto& s) { return s.devices().size() == 5; }));
  EXPECT_EQ(stream.messages(), 2U);
}

TEST_F(ListTest, Checklist09AChangeOfAnotherResourceIsNoneOfThisOne) {
  constexpr const char* kOther = "nvidia.com/gpu";
  publish();
  const ListStreamReader stream(*client_);
  ASSERT_TRUE(stream.wait([](const auto& s) { return s.messages() == 1; }));
  const auto other_socket = node_.plugins + "/other.sock";
  const auto other_server = kubelet::PluginServer::start(node_.context, kOther, other_socket, [] {});
  ASSERT_TRUE(other_server);
  const PluginClient other_client(other_socket);
  const ListStreamReader other(other_client);
  auto table = vgpu_table(2, 5);
  table.resources.push_back({});
  for (std::size_t gpus = 1; gpus <= 30; ++gpus) {
    table.resources.back() = vgpu_table(static_cast<int>(gpus), 1, kOther).resources.front();
    ASSERT_TRUE(node_.latest_table.publish(table));
    ASSERT_TRUE(other.wait([&](const auto& s) { return s.devices().size() == gpus; }));
  }
  node_.latest_table.publish(vgpu_table(1, 5));
  ASSERT_TRUE(stream.wait([](const auto& s) { return s.devices().size() == 5; }));
  EXPECT_EQ(stream.messages(), 2U);
}

TEST_F(ListTest, Checklist09StaysBelowWhatTheKubeletTakes) {
  node_.latest_table.publish(vgpu_table(8, 50000));
  const ListStreamReader stream(*client_);  // fails with a message above 4 MiB
  ASSERT_TRUE(stream.wait([](const auto& s) { return s.messages() >= 1 || s.ended(); }));
  EXPECT_FALSE(stream.ended());
  EXPECT_GT(stream.devices().size(), 60000U);
}

TEST(DeviceListTest, Checklist09LeavesOutTheLastSlicesAndCountsThem) {
  const auto table = vgpu_table(2, 5);
  const auto whole = kubelet::device_list(&table.resources.front());
  EXPECT_EQ(whole.left_out, 0U);
  const auto cut = kubelet::device_list(&table.resources.front(), whole.message.ByteSizeLong() / 2);
  EXPECT_EQ(cut.left_out + static_cast<std::size_t>(cut.message.devices_size()), 10U);
  EXPECT_LE(cut.message.ByteSizeLong(), whole.message.ByteSizeLong() / 2);
  EXPECT_EQ(cut.message.devices(0).id(), "GPU-0::0");
}

TEST_F(ListTest, Checklist20AllSlicesOfAGpuGoAndComeTogether) {
  publish();
  const ListStreamReader stream(*client_);
  ASSERT_TRUE(stream.wait([](const auto& s) { return s.messages() == 1; }));
  node_.latest_table.publish(with_unhealthy_gpu(vgpu_table(2, 5), "GPU-1", "Xid79"));
  ASSERT_TRUE(stream.wait([](const auto& s) { return s.messages() == 2; }));
  for (const auto& [id, device] : stream.devices()) {
    EXPECT_EQ(device.health(), id.starts_with("GPU-1") ? "Unhealthy" : "Healthy") << id;
  }
  publish();
  EXPECT_TRUE(stream.wait([](const auto& s) { return s.messages() == 3 && unhealthy(s) == 0; }));
}

TEST_F(ListTest, Checklist22EndsStreamsWithinTheShutdown) {
  publish();
  ListStreamReader slow(*client_);
  const ListStreamReader quick(*client_);
  ASSERT_TRUE(quick.wait([](const auto& s) { return s.messages() == 1; }));
  ASSERT_TRUE(slow.wait([](const auto& s) { return s.messages() == 1; }));
  slow.hold();
  server_.reset();
  EXPECT_TRUE(quick.wait([](const auto& s) { return s.ended(); }));
  EXPECT_EQ(quick.end_code(), grpc::StatusCode::UNAVAILABLE);
  EXPECT_EQ(quick.messages(), 1U) << "no last, empty list";
}

TEST_F(ListTest, Checklist25SendsTheNumaNodeOnlyWhenItIsKnown) {
  auto table = vgpu_table(2, 1);
  table.resources.front().gpus[0].numa_node = -1;
  table.resources.front().gpus[1].numa_node = 0;
  node_.latest_table.publish(table);
  const ListStreamReader stream(*client_);
  ASSERT_TRUE(stream.wait([](const auto& s) { return s.messages() == 1; }));
  const auto devices = stream.devices();
  EXPECT_FALSE(devices.at("GPU-0::0").has_topology());
  ASSERT_EQ(devices.at("GPU-1::0").topology().nodes_size(), 1);
  EXPECT_EQ(devices.at("GPU-1::0").topology().nodes(0).id(), 0);
}

}  // namespace
}  // namespace gpupool::test
