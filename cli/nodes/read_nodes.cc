// SPDX-License-Identifier: Apache-2.0
#include "nodes/read_nodes.h"

#include <algorithm>
#include <utility>

namespace gpupool::nodes {

base::Result<std::vector<SeenNode>> read_nodes(command::Session& session, const Chosen& chosen,
                                               const std::stop_token& stop) {
  std::vector<SeenNode> nodes;
  base::Result<void> good;
  const auto listed = session.client().list_items(
      api::GpuNode::kType, "", {.resource_version = "0"},
      [&](std::string_view item) {
        auto node = base::json::read<SeenNode>(item);
        if (!node) {
          good = tl::unexpected<base::Error>(node.error());
        } else if (!chosen.names || chosen.names->contains(node->metadata.name)) {
          nodes.push_back(std::move(*node));
        }
      },
      stop);
  if (!listed) return tl::unexpected<base::Error>(listed.error());
  if (!good) return tl::unexpected<base::Error>(good.error());
  if (chosen.pods) {
    for (SeenNode& node : nodes) {
      std::erase_if(node.status.gpus, [&](const SeenGpu& gpu) {
        return std::none_of(gpu.pods.begin(), gpu.pods.end(), [&](const api::GpuNodePod& pod) {
          return chosen.pods->contains({pod.ns, pod.name});
        });
      });
    }
  }
  std::sort(nodes.begin(), nodes.end(),
            [](const SeenNode& a, const SeenNode& b) { return a.metadata.name < b.metadata.name; });
  return nodes;
}

}  // namespace gpupool::nodes
