// SPDX-License-Identifier: Apache-2.0
#include "agent/plugin_set.h"

#include <utility>

namespace gpupool::agent {

namespace {

constexpr auto kFarewell = std::chrono::seconds(2);

}  // namespace

PluginSet::PluginSet(std::string directory, const kubelet::PluginContext& context,
                     kubelet::PodResources& pods, base::Clock& clock)
    : directory_(std::move(directory)), context_(context), pods_(pods), clock_(clock) {}

PluginSet::~PluginSet() {
  for (auto& [resource, running] : running_) running.thread.request_stop();
}

void PluginSet::serve(const std::set<std::string>& resources) {
  std::vector<Running> ended;  // joined outside the lock
  const base::MutexLock lock(mutex_);
  for (const auto& resource : resources) {
    auto& running = running_[resource];
    running.gone_since.reset();
    if (running.plugin) continue;
    running.plugin = std::make_unique<kubelet::ResourcePlugin>(directory_, resource, context_, pods_, clock_);
    running.thread =
        std::jthread([&plugin = *running.plugin](const std::stop_token& stop) { plugin.run(stop); });
  }
  for (auto entry = running_.begin(); entry != running_.end();) {
    auto& running = entry->second;
    if (!resources.contains(entry->first)) {
      if (!running.gone_since) running.gone_since = clock_.now();
      if (clock_.now() - *running.gone_since >= kFarewell) {
        context_.log.info("Not advertised any more", {{"resource", entry->first}});
        ended.push_back(std::move(running));
        entry = running_.erase(entry);
        continue;
      }
    }
    ++entry;
  }
}

std::vector<PluginSet::Entry> PluginSet::status() const {
  const base::MutexLock lock(mutex_);
  std::vector<Entry> entries;
  entries.reserve(running_.size());
  for (const auto& [resource, running] : running_) entries.push_back({resource, running.plugin->status()});
  return entries;
}

}  // namespace gpupool::agent
