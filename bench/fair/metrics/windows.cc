// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/metrics/windows.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gpupool::bench::fair {

Windows::Windows(const Workload& workload) : tenants_(workload.tenants.size()) { open(); }

void Windows::open() {
  windows_.push_back(
      {.received = std::vector<std::int64_t>(tenants_), .demanded = std::vector<std::int64_t>(tenants_)});
}

void Windows::advance(const Cluster& cluster, Seconds now) {
  while (now_ < now) {
    if (windows_.back().length == kWindow) open();
    auto& window = windows_.back();
    const auto passed = std::min(now - now_, kWindow - window.length);
    for (std::size_t i = 0; i < tenants_; ++i) {
      window.received[i] += cluster.held(i) * passed;
      window.demanded[i] += (cluster.held(i) + cluster.wanted(i)) * passed;
    }
    window.waiting_job_seconds += static_cast<std::int64_t>(cluster.waiting().size()) * passed;
    window.length += passed;
    now_ += passed;
  }
}

std::vector<Window> Windows::finish() { return std::exchange(windows_, {}); }

std::vector<double> max_min_shares(const std::vector<std::int64_t>& demands, std::int64_t supply) {
  std::vector<std::size_t> order(demands.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return demands[i]; });
  std::vector<double> shares(demands.size());
  auto left = static_cast<double>(supply);
  for (std::size_t done = 0; done < order.size(); ++done) {
    const auto i = order[done];
    shares[i] = std::min(static_cast<double>(demands[i]), left / static_cast<double>(order.size() - done));
    left -= shares[i];
  }
  return shares;
}

bool contested(const Window& window, std::int64_t gpus) {
  return std::accumulate(window.demanded.begin(), window.demanded.end(), std::int64_t{0}) >
         gpus * window.length;
}

double fairness(const Window& window, std::int64_t gpus) {
  const auto shares = max_min_shares(window.demanded, gpus * window.length);
  double sum = 0;
  double squares = 0;
  double count = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] <= 0) continue;
    const auto ratio = static_cast<double>(window.received[i]) / shares[i];
    sum += ratio;
    squares += ratio * ratio;
    ++count;
  }
  return squares > 0 ? sum * sum / (count * squares) : 1;
}

}  // namespace gpupool::bench::fair
