#include "planning/fewest_idle.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace gpupool::planning {
namespace {

// GPUs taken, then nodes taken.
using Cost = std::pair<std::int64_t, std::int64_t>;
constexpr Cost kUnreachable{std::numeric_limits<std::int64_t>::max(), 0};

}  // namespace

std::vector<const PoolNode*> fewest_idle(const std::vector<const PoolNode*>& nodes, std::int64_t workers,
                                         std::int64_t gpus_per_worker) {
  const auto slots_wanted = static_cast<std::size_t>(workers);
  // best[s]: the cheapest way to s or more slots with the nodes seen so far; took[i][s]: whether node i is
  // part of it.
  std::vector<Cost> best(slots_wanted + 1, kUnreachable);
  best[0] = {0, 0};
  std::vector<std::vector<bool>> took(nodes.size(), std::vector<bool>(slots_wanted + 1, false));
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto slots = static_cast<std::size_t>(worker_slots(*nodes[i], gpus_per_worker));
    for (std::size_t s = slots_wanted; s > 0; --s) {
      const auto& rest = best[s > slots ? s - slots : 0];
      if (rest == kUnreachable) continue;
      const Cost with{rest.first + nodes[i]->gpus, rest.second + 1};
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
    chosen.push_back(nodes[i]);
    const auto slots = static_cast<std::size_t>(worker_slots(*nodes[i], gpus_per_worker));
    s -= std::min(s, slots);
  }
  std::reverse(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace gpupool::planning
