// SPDX-License-Identifier: Apache-2.0
// The price of a pool with spec.price.demand: when it moves, and where to. Pure.
#pragma once

#include <cstdint>
#include <vector>

#include "api/v1alpha1/gpu_pool.h"
#include "base/clock.h"
#include "planning/demand/demand_price.h"

namespace gpupool::planning {

// Returns how long the price of now holds; zero: it is time to decide. A clock that was set back by more than
// everyMinutes does not hold it longer. decided: status.price.
base::Duration until_decision(const api::DemandPrice& demand, const base::Boxed<api::PoolPriceNow>& decided,
                              base::WallTime now);

// Returns the next status.price: the first time spec.price.perGpuHour, later one step from the price of now
// towards the best one for these bids. REQUIRES: spec.price.demand, and check_price() found nothing.
api::PoolPriceNow decide_price(const api::GpuPool& pool, const std::vector<Bid>& bids,
                               std::int64_t capacity_gpu_seconds, base::WallTime now);

// Returns status.price between two decisions: as it was, within the floor and the ceiling of now. REQUIRES:
// as above, and status.price.
api::PoolPriceNow keep_price(const api::GpuPool& pool, base::WallTime now);

}  // namespace gpupool::planning
