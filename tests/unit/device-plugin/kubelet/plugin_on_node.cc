// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/device-plugin/kubelet/plugin_on_node.h"

#include <chrono>

namespace gpupool::test {

slices::Table vgpu_table(int gpus, int count, const std::string& name) {
  slices::Resource resource;
  resource.name = name;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    const auto uuid = "GPU-" + std::to_string(gpu);
    resource.gpus.push_back({uuid, gpu, gpu, -1, count, true});
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      resource.slices.push_back(
          {uuid + "::" + std::to_string(ordinal), uuid, uuid, ordinal, 12000 / count, 100 / count, true, ""});
    }
  }
  return {{resource}};
}

slices::Table with_unhealthy_gpu(slices::Table table, const std::string& uuid, const std::string& why) {
  for (auto& slice : table.resources.front().slices) {
    if (slice.gpu != uuid) continue;
    slice.healthy = false;
    slice.unhealthy_reason = why;
  }
  return table;
}

Node::Node() {
  rules.set(
      {.settings = {}, .paths = {.limits_directory = limits_directory, .limiter_directory = ""}, .gpus = {}});
}

RunningPlugin::RunningPlugin(Node& node, const std::string& resource)
    : plugin_(node.plugins, resource, node.context, node.pods, node.clock),
      thread_([this](const std::stop_token& stop) { plugin_.run(stop); }) {}

void RunningPlugin::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

bool RunningPlugin::wait(kubelet::ResourcePlugin::Phase phase) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (status().phase != phase) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

}  // namespace gpupool::test
