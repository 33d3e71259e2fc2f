// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "kubelet/plugin_context.h"
#include "kubelet/pod_resources.h"
#include "kubelet/resource_plugin.h"

namespace gpupool::agent {

// Runs one ResourcePlugin, each on a thread of its own, for each resource that the table has. serve() is
// called by the agent's thread; status() is thread-safe. `context`, `pods` and `clock` outlive it.
class PluginSet {
 public:
  struct Entry {
    std::string resource;
    kubelet::ResourcePlugin::Status status;
  };

  // directory: the kubelet's plugin directory.
  PluginSet(std::string directory, const kubelet::PluginContext& context, kubelet::PodResources& pods,
            base::Clock& clock);
  ~PluginSet();  // stops all of them at the same time
  PluginSet(const PluginSet&) = delete;
  PluginSet& operator=(const PluginSet&) = delete;

  // Starts plugins for new resources. The plugin of a resource that is gone goes on for 2 s with an empty
  // list, so that the kubelet learns that the devices are gone and does not only call them unhealthy. May
  // block for the end of those.
  void serve(const std::set<std::string>& resources);
  std::vector<Entry> status() const;

 private:
  struct Running {
    std::unique_ptr<kubelet::ResourcePlugin> plugin;
    std::optional<base::SteadyTime> gone_since;
    std::jthread thread;
  };

  const std::string directory_;
  const kubelet::PluginContext& context_;
  kubelet::PodResources& pods_;
  base::Clock& clock_;
  mutable base::Mutex mutex_;
  std::map<std::string, Running> running_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::agent
