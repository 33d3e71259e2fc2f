// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/fair/workload/job.h"

namespace gpupool::bench::fair {

inline constexpr std::int64_t kMilli = 1000;

// What each tenant has used, in milli-GPU-seconds; it halves each half-life. The value depends on what was
// held when, and not on when it was looked at. Not thread-safe.
class Ledger {
 public:
  Ledger(std::size_t tenants, Seconds half_life);

  // REQUIRES: now does not go back.
  void advance(Seconds now);
  // Milli-GPUs that the tenant is charged for from now on.
  void set_rate(std::size_t tenant, std::int64_t rate) { accounts_[tenant].rate = rate; }
  std::int64_t usage(std::size_t tenant) const { return accounts_[tenant].decayed + accounts_[tenant].fresh; }
  // Usage divided by this is the recent average of what was held, in milli-GPUs.
  std::int64_t memory() const { return kTicksInMemory * tick_; }

 private:
  static constexpr std::int64_t kTicksInMemory = 1477;  // 1024 / ln 2

  struct Account {
    std::int64_t decayed = 0;  // until the last tick
    std::int64_t fresh = 0;    // since then
    std::int64_t rate = 0;
  };
  void add(Seconds passed);

  Seconds tick_;
  Seconds now_ = 0;
  Seconds next_tick_;
  std::vector<Account> accounts_;
};

}  // namespace gpupool::bench::fair
