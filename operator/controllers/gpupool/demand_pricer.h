// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "base/boxed.h"
#include "base/clock.h"
#include "planning/forecast/run_times.h"

namespace gpupool::controllers {

// Sets the prices of pools with spec.price.demand. Reads the jobs only when a price is decided. Thread-safe.
class DemandPricer {
 public:
  // All jobs. Thread-safe.
  using Jobs = std::function<std::vector<std::shared_ptr<const api::GpuJob>>()>;

  // clock: outlives this.
  DemandPricer(base::Clock& clock, Jobs jobs, planning::RunTimes::Source history);

  // Returns status.price. counts: the status of now.
  base::Boxed<api::PoolPriceNow> price(const api::GpuPool& pool, const api::GpuPoolStatus& counts) const;

 private:
  base::Clock& clock_;
  Jobs jobs_;
  planning::RunTimes::Source history_;
};

}  // namespace gpupool::controllers
