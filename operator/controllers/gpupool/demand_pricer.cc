// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpupool/demand_pricer.h"

#include <utility>

#include "planning/demand/bids.h"
#include "planning/demand/pool_demand.h"
#include "planning/pricing/pool_price.h"

namespace gpupool::controllers {

DemandPricer::DemandPricer(base::Clock& clock, Jobs jobs, planning::RunTimes::Source history)
    : clock_(clock), jobs_(std::move(jobs)), history_(std::move(history)) {}

base::Boxed<api::PoolPriceNow> DemandPricer::price(const api::GpuPool& pool,
                                                   const api::GpuPoolStatus& counts) const {
  if (!pool.spec.price || !pool.spec.price->demand) return {};
  if (!planning::check_price(*pool.spec.price).empty()) return pool.status.price;
  const auto now = clock_.wall();
  if (planning::until_decision(*pool.spec.price->demand, pool.status.price, now) > base::Duration::zero())
    return planning::keep_price(pool, now);
  const auto history = history_();
  planning::Estimates estimates(history, now);
  return planning::decide_price(pool, planning::bids_of(pool, jobs_(), estimates, now),
                                planning::capacity_of(pool, counts), now);
}

}  // namespace gpupool::controllers
