// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/min_waste.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace gpupool::planning {
namespace {

// Number of GPUs, then number of nodes.
using Cost = std::pair<std::int64_t, std::int64_t>;
constexpr Cost kUnreachable{std::numeric_limits<std::int64_t>::max(), 0};

}  // namespace

std::vector<const PoolNode*> min_waste(const std::vector<NodeSlots>& nodes, std::int64_t workers) {
  const auto slots_wanted = static_cast<std::size_t>(workers);
  // best[s]: the lowest cost of s or more slots on the nodes seen so far. took[i][s]: whether that uses node
  // i.
  std::vector<Cost> best(slots_wanted + 1, kUnreachable);
  best[0] = {0, 0};
  std::vector<std::vector<bool>> took(nodes.size(), std::vector<bool>(slots_wanted + 1, false));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto slots = static_cast<std::size_t>(nodes[i].slots);
    for (std::size_t s = slots_wanted; s > 0; --s) {
      const auto& rest = best[s > slots ? s - slots : 0];
      if (rest == kUnreachable) continue;
      const Cost with{rest.first + nodes[i].node->gpus, rest.second + 1};
      if (with < best[s]) {
        best[s] = with;
        took[i][s] = true;
      }
    }
  }
  std::vector<const PoolNode*> chosen;
  std::size_t s = slots_wanted;
  for (std::size_t i = nodes.size(); i-- > 0 && s > 0;) {
    if (!took[i][s]) continue;
    chosen.push_back(nodes[i].node);
    const auto slots = static_cast<std::size_t>(nodes[i].slots);
    s -= std::min(s, slots);
  }
  std::reverse(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace gpupool::planning
