// SPDX-License-Identifier: Apache-2.0
#include "allocation/linked_gpus.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace gpupool::allocation {
namespace {

constexpr std::size_t kMostCombinations = 20'000;

// Only the order matters: any NVLink before any PCIe path, more links before fewer.
std::int64_t nearness(const inventory::Link& link) {
  if (link.distance == inventory::Distance::kNvlink) return 100 * std::max<std::int64_t>(link.nvlinks, 1);
  return 70 - 10 * static_cast<std::int64_t>(link.distance);
}

class Chooser {
 public:
  Chooser(const std::vector<WholeGpu>& candidates, const std::vector<inventory::Gpu>& gpus)
      : candidates_(candidates), near_(candidates.size(), std::vector<std::int64_t>(candidates.size(), 0)) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      (candidates[i].must ? must_ : free_).push_back(i);
      const auto gpu = std::find_if(gpus.begin(), gpus.end(), [&](const inventory::Gpu& one) {
        return one.uuid == candidates[i].uuid;
      });
      if (gpu == gpus.end()) continue;
      for (std::size_t j = 0; j < candidates.size(); ++j) {
        const auto link = std::find_if(gpu->links.begin(), gpu->links.end(), [&](const inventory::Link& one) {
          return one.peer == candidates[j].uuid;
        });
        if (link != gpu->links.end()) near_[i][j] = nearness(*link);
      }
    }
  }

  std::vector<std::size_t> choose(std::size_t count) {
    const std::size_t missing = count > must_.size() ? std::min(count - must_.size(), free_.size()) : 0;
    std::vector<std::size_t> chosen = must_;
    if (combinations(free_.size(), missing) <= kMostCombinations) {
      best_.clear();
      try_all(chosen, 0, missing);
      chosen = best_;
    } else {
      for (std::size_t i = 0; i < missing; ++i) add_nearest(chosen);
    }
    std::sort(chosen.begin(), chosen.end());
    return chosen;
  }

 private:
  using Merit = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

  static std::size_t combinations(std::size_t of, std::size_t take) {
    std::size_t count = 1;
    for (std::size_t i = 1; i <= std::min(take, of - take); ++i) {
      count = count * (of - i + 1) / i;
      if (count > kMostCombinations) break;
    }
    return count;
  }

  std::int64_t nearness_within(const std::vector<std::size_t>& set) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < set.size(); ++i) {
      for (std::size_t j = i + 1; j < set.size(); ++j) sum += near_[set[i]][set[j]];
    }
    return sum;
  }

  Merit merit(const std::vector<std::size_t>& chosen) const {
    std::vector<std::size_t> left;
    std::set_difference(free_.begin(), free_.end(),
                        chosen.begin() + static_cast<std::ptrdiff_t>(must_.size()), chosen.end(),
                        std::back_inserter(left));
    std::set<std::int64_t> nodes;
    for (const std::size_t i : chosen) nodes.insert(candidates_[i].numa_node);
    return {nearness_within(chosen), nearness_within(left), -static_cast<std::int64_t>(nodes.size())};
  }

  // In lexicographic order, so that of equal ones the first stays.
  void try_all(std::vector<std::size_t>& chosen, std::size_t from, std::size_t missing) {
    if (missing == 0) {
      const Merit now = merit(chosen);
      if (!best_.empty() && now <= best_merit_) return;
      best_ = chosen;
      best_merit_ = now;
      return;
    }
    for (std::size_t i = from; i + missing <= free_.size(); ++i) {
      chosen.push_back(free_[i]);
      try_all(chosen, i + 1, missing - 1);
      chosen.pop_back();
    }
  }

  void add_nearest(std::vector<std::size_t>& chosen) {
    std::size_t best = free_.front();
    std::int64_t most = -1;
    for (const std::size_t i : free_) {
      std::int64_t sum = 0;
      for (const std::size_t one : chosen) sum += near_[i][one];
      if (sum <= most) continue;
      most = sum;
      best = i;
    }
    chosen.push_back(best);
    free_.erase(std::find(free_.begin(), free_.end(), best));
  }

  const std::vector<WholeGpu>& candidates_;
  std::vector<std::vector<std::int64_t>> near_;
  std::vector<std::size_t> must_;
  std::vector<std::size_t> free_;
  std::vector<std::size_t> best_;
  Merit best_merit_;
};

}  // namespace

std::vector<std::size_t> linked_gpus(const std::vector<WholeGpu>& candidates, std::size_t count,
                                     const std::vector<inventory::Gpu>& gpus) {
  return Chooser(candidates, gpus).choose(count);
}

}  // namespace gpupool::allocation
