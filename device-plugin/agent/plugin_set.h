#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "kubelet/offering.h"
#include "kubelet/pod_resources.h"
#include "kubelet/resource_plugin.h"

namespace gpupool::agent {

// One running device plugin per resource that the table has. status() is thread-safe, the rest is not.
class PluginSet {
 public:
  struct Entry {
    std::string resource;
    kubelet::ResourcePlugin::Status status;
  };

  // directory: the kubelet's plugin directory.
  PluginSet(std::string directory, const kubelet::Offering& offering, kubelet::PodResources& pods,
            base::Clock& clock);
  ~PluginSet();  // stops all of them at the same time
  PluginSet(const PluginSet&) = delete;
  PluginSet& operator=(const PluginSet&) = delete;

  // Starts what is missing. A resource that has gone is served a little longer, so that the kubelet hears
  // that it has no devices any more instead of taking them for unhealthy.
  void serve(const std::set<std::string>& resources);
  std::vector<Entry> status() const;

 private:
  struct Running {
    std::unique_ptr<kubelet::ResourcePlugin> plugin;
    std::optional<base::SteadyTime> gone_since;
    std::jthread thread;
  };

  const std::string directory_;
  const kubelet::Offering& offering_;
  kubelet::PodResources& pods_;
  base::Clock& clock_;
  mutable std::mutex mutex_;  // of running_, for status()
  std::map<std::string, Running> running_;
};

}  // namespace gpupool::agent
