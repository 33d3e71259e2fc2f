// SPDX-License-Identifier: Apache-2.0
#include "controllers/queue/foreign_share.h"

#include <algorithm>

namespace gpupool::controllers {

planning::ForeignShare foreign_share(const Caches& caches, const std::string& node,
                                     const std::string& gpu_resource) {
  planning::ForeignShare share;
  for (const auto& pod : caches.foreign_pods.on_node(node)) {
    share.held += *pod.requests;
    ++share.held.pods;
    if (pod.requests->of(gpu_resource) == 0) continue;
    const auto name = pod.details->key.to_string();
    share.gpu_pod = share.gpu_pod.empty() ? name : std::min(share.gpu_pod, name);
  }
  share.gpus = share.held.of(gpu_resource);
  return share;
}

std::vector<planning::Occupants::Pod> foreign_slices(const Caches& caches, const std::string& node,
                                                     const std::string& resource) {
  std::vector<planning::Occupants::Pod> pods;
  for (const auto& pod : caches.foreign_pods.on_node(node)) {
    const auto slices = pod.requests->of(resource);
    if (slices > 0) pods.push_back({pod.details->key.ns, pod.details->key.name, slices});
  }
  return pods;
}

}  // namespace gpupool::controllers
