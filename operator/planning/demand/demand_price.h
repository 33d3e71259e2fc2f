// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace gpupool::planning {

// Prices are in millionths of the currency per GPU-hour, as everywhere in gpupool.
using Price = std::int64_t;

// What one job asked for in the period that is looked at.
struct Bid {
  std::uint64_t bidder;      // whose job it is
  Price highest;             // maxPricePerGpuHour: it runs at this price or below
  std::int64_t gpu_seconds;  // asked for
};

// How a pool's price follows demand. REQUIRES: 0 <= floor <= ceiling, cost >= 0, 1 <= step_percent <= 100.
struct DemandPolicy {
  Price floor;
  Price ceiling;
  Price cost;                 // of one GPU-hour to the owner; below it no hour is worth selling
  std::int64_t step_percent;  // most that the price changes at once
};

// Returns the price in [floor, ceiling] at which the owner earns most from these bids: the largest
// (price - cost) * min(GPU-seconds asked for at that price or more, capacity_gpu_seconds), the lowest such
// price if there are several, and floor without bids. Bids of `without` do not count: a bidder whose own
// price is worked out from the others' bids gains nothing by a lower bid. This is the leader's move of a
// Stackelberg game whose followers run a job if and only if the price is at most what they bid: Li et al.,
// IEEE Transactions on Cloud Computing 8(4), 2020, p. 1264, have the two stages; here the followers' answers
// are known, so no model of them is needed. O(n log n).
Price best_price(std::span<const Bid> bids, std::int64_t capacity_gpu_seconds, const DemandPolicy& policy,
                 std::optional<std::uint64_t> without = std::nullopt);

// Returns `now` moved towards `best` by at most step_percent of `now`, by at least 1, within floor and
// ceiling.
Price next_price(Price now, Price best, const DemandPolicy& policy);

}  // namespace gpupool::planning
