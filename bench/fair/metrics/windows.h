// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "bench/fair/engine/cluster.h"

namespace gpupool::bench::fair {

inline constexpr Seconds kWindow = 6 * 3600;

// What happened in one window of time.
struct Window {
  Seconds length = 0;                  // kWindow, except that of the last
  std::vector<std::int64_t> received;  // GPU-seconds held, by tenant
  std::vector<std::int64_t> demanded;  // GPU-seconds held or waited for, by tenant
  std::int64_t waiting_job_seconds = 0;
};

// Adds up what tenants hold and ask for. Not thread-safe.
class Windows {
 public:
  explicit Windows(const Workload& workload);
  // Until `now`, nothing has changed since the last call. REQUIRES: now does not go back.
  void advance(const Cluster& cluster, Seconds now);
  std::vector<Window> finish();

 private:
  void open();

  std::size_t tenants_;
  Seconds now_ = 0;
  std::vector<Window> windows_;
};

// The part of each demand that max-min fairness gives out of `supply`.
std::vector<double> max_min_shares(const std::vector<std::int64_t>& demands, std::int64_t supply);

// More was asked for than there is.
bool contested(const Window& window, std::int64_t gpus);
// Jain's index of received/max-min share over the tenants that asked for something: 1 is equal.
double fairness(const Window& window, std::int64_t gpus);

}  // namespace gpupool::bench::fair
