// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "kubelet/plugin_server.h"
#include "tests/fake-kubelet/plugin_client.h"
#include "tests/unit/device-plugin/kubelet/plugin_on_node.h"

namespace gpupool::test {

// A plugin's server that tests call directly, without a kubelet.
class ServedPlugin : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(node_.plugins);
    auto started = kubelet::PluginServer::start(node_.context, kVgpu, socket_, [] {});
    ASSERT_TRUE(started) << started.error().message;
    server_ = std::move(*started);
    client_ = std::make_unique<PluginClient>(socket_);
  }

  // Two GPUs with five slices each.
  void publish() { node_.latest_table.publish(vgpu_table(2, 5)); }

  Node node_;
  const std::string socket_ = node_.plugins + "/vgpu.sock";
  std::unique_ptr<kubelet::PluginServer> server_;
  std::unique_ptr<PluginClient> client_;
};

}  // namespace gpupool::test
