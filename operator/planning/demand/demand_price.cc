// SPDX-License-Identifier: Apache-2.0
#include "planning/demand/demand_price.h"

#include <algorithm>
#include <vector>

#include "base/wide.h"

namespace gpupool::planning {

Price best_price(std::span<const Bid> bids, std::int64_t capacity_gpu_seconds, const DemandPolicy& policy,
                 std::optional<std::uint64_t> without) {
  std::vector<Bid> sorted;
  sorted.reserve(bids.size());
  for (const auto& bid : bids) {
    if (bid.bidder == without || bid.highest < policy.floor || bid.gpu_seconds <= 0) continue;
    sorted.push_back(bid);
    sorted.back().highest = std::min(bid.highest, policy.ceiling);
  }
  std::ranges::sort(sorted, std::ranges::greater(), &Bid::highest);
  // Between two bids a higher price sells the same, so only bids are worth trying.
  Price best = policy.floor;
  base::Wide most = 0;
  base::Wide asked = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    asked += sorted[i].gpu_seconds;
    if (i + 1 < sorted.size() && sorted[i + 1].highest == sorted[i].highest) continue;
    const auto sold = std::min<base::Wide>(asked, capacity_gpu_seconds);
    const base::Wide profit = sold * (sorted[i].highest - policy.cost);
    if (profit >= most && profit > 0) {
      most = profit;
      best = sorted[i].highest;
    }
  }
  return best;
}

Price next_price(Price now, Price best, const DemandPolicy& policy) {
  const auto step = std::max<Price>(1, static_cast<Price>(base::Wide{now} * policy.step_percent / 100));
  return std::clamp(std::clamp(best, now - step, now + step), policy.floor, policy.ceiling);
}

}  // namespace gpupool::planning
