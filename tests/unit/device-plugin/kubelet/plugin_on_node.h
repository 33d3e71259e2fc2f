// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "kubelet/plugin_context.h"
#include "kubelet/pod_resources.h"
#include "kubelet/resource_plugin.h"
#include "nvidia/container_access.h"
#include "slices/latest_table.h"
#include "tests/support/temporary_folder.h"

namespace gpupool::test {

constexpr const char* kVgpu = "gpupool.dev/vgpu";

// `gpus` GPUs of 12000 MiB, each cut into `count` slices: "GPU-0::0", "GPU-0::1", ...
slices::Table vgpu_table(int gpus, int count, const std::string& name = kVgpu);
// The same with one GPU unhealthy.
slices::Table with_unhealthy_gpu(slices::Table table, const std::string& uuid, const std::string& why);

// The folders of a node, and the table that all plugins on it answer from.
struct Node {
  Node();

  TemporaryFolder folder;
  const std::string plugins = folder.path() + "/device-plugins";
  const std::string limits_directory = folder.path() + "/limits";
  base::SystemClock clock;
  base::Metrics metrics;
  base::Log log = base::Log::none();
  slices::LatestTable latest_table;
  base::Latest<kubelet::Rules> rules;
  kubelet::LimitsStore limits{limits_directory};
  enforcement::RegionStore regions{folder.path() + "/regions"};
  kubelet::AllocationGate gate;
  kubelet::PodResources pods{folder.path() + "/pod-resources/kubelet.sock"};
  std::unique_ptr<const allocation::ContainerAccess> access = nvidia::make_container_access();
  kubelet::PluginContext context{latest_table, rules, limits, regions, *access, gate, metrics, log};
};

// A plugin that runs in a thread, until stop() or its end.
class RunningPlugin {
 public:
  explicit RunningPlugin(Node& node, const std::string& resource = kVgpu);
  void stop();
  kubelet::ResourcePlugin::Status status() const { return plugin_.status(); }
  // False if it did not come to this phase in 20 s.
  bool wait(kubelet::ResourcePlugin::Phase phase) const;

 private:
  kubelet::ResourcePlugin plugin_;
  std::jthread thread_;
};

}  // namespace gpupool::test
