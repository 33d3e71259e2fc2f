// SPDX-License-Identifier: Apache-2.0
// What a GPU-hour costs in a pool, by its spec.price and, if that follows demand, its status.price. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/v1alpha1/gpu_pool.h"
#include "base/clock.h"
#include "base/money.h"

namespace gpupool::planning {

// Returns what is wrong with spec.price, beginning with the name of the field; empty if it is valid. The
// schema checks the same, but not before it is installed.
std::string check_price(const api::PoolPrice& price);

// The price of a GPU-hour of this model at this moment, in millionths. REQUIRES: pool.spec.price, and
// check_price() found nothing.
base::Micros price_of(const api::GpuPool& pool, std::string_view model, base::WallTime at);

// When the schedule changes the prices next; nothing: never.
std::optional<base::WallTime> next_price_change(const api::PoolPrice& price, base::WallTime after);

}  // namespace gpupool::planning
