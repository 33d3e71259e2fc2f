// SPDX-License-Identifier: Apache-2.0
#include "planning/demand/pool_demand.h"

#include <chrono>

#include "base/money.h"
#include "planning/pricing/pool_price.h"

namespace gpupool::planning {
namespace {

DemandPolicy policy_of(const api::DemandPrice& demand) {
  const auto micros = [](const std::string& text) { return base::parse_micros(text).value_or(0); };
  return {micros(demand.floor), micros(demand.ceiling), micros(demand.cost), demand.step_percent};
}

}  // namespace

base::Duration until_decision(const api::DemandPrice& demand, const base::Boxed<api::PoolPriceNow>& decided,
                              base::WallTime now) {
  const base::Duration every = std::chrono::minutes(demand.every_minutes);
  if (!decided || !decided->decided_at) return base::Duration::zero();
  const auto passed = std::chrono::duration_cast<base::Duration>(now - *decided->decided_at);
  return passed >= every || passed < -every ? base::Duration::zero() : every - passed;
}

api::PoolPriceNow decide_price(const api::GpuPool& pool, const std::vector<Bid>& bids,
                               std::int64_t capacity_gpu_seconds, base::WallTime now) {
  const auto policy = policy_of(*pool.spec.price->demand);
  const auto best = best_price(bids, capacity_gpu_seconds, policy);
  auto price = price_of(pool, "", now);
  if (pool.status.price) price = next_price(price, best, policy);
  // As it is read back: times in a status are whole seconds.
  return {base::micros_text(price), base::micros_text(best), static_cast<std::int64_t>(bids.size()),
          std::chrono::floor<std::chrono::seconds>(now)};
}

api::PoolPriceNow keep_price(const api::GpuPool& pool, base::WallTime now) {
  auto price = *pool.status.price;
  price.per_gpu_hour = base::micros_text(price_of(pool, "", now));
  return price;
}

}  // namespace gpupool::planning
