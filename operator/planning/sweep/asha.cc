// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/asha.h"

#include <algorithm>
#include <cmath>

namespace gpupool::planning {
namespace {

// The worst value that still goes on, of all values of each rung that has enough of them.
class Rungs {
 public:
  Rungs(const std::map<std::int64_t, RungValues>& values, const api::SweepAsha& asha,
        const api::SweepObjective& objective)
      : objective_(objective) {
    std::vector<std::vector<double>> rungs;
    for (const auto& [trial, reached] : values) {
      rungs.resize(std::max(rungs.size(), reached.size()));
      for (std::size_t i = 0; i < reached.size(); ++i) rungs[i].push_back(reached[i]);
    }
    const auto eta = static_cast<std::size_t>(asha.eta);
    for (auto& rung : rungs) {
      if (rung.size() < eta) break;  // higher ones have no more
      const auto last = rung.begin() + static_cast<std::ptrdiff_t>(rung.size() / eta) - 1;
      std::ranges::nth_element(rung, last, [this](double a, double b) { return goes_before(a, b); });
      limits_.push_back(*last);
    }
  }

  // REQUIRES: reached is not empty.
  bool goes_on(const RungValues& reached) const {
    return reached.size() > limits_.size() || !goes_before(limits_[reached.size() - 1], reached.back());
  }

 private:
  bool goes_before(double a, double b) const {
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a) && std::isnan(b);
    return is_better(a, b, objective_);
  }

  const api::SweepObjective& objective_;
  std::vector<double> limits_;
};

}  // namespace

std::vector<std::int64_t> rungs_of(const api::SweepAsha& asha) {
  std::vector<std::int64_t> rungs;
  if (asha.min < 1 || asha.eta < 2) return rungs;
  for (auto step = asha.min; step < asha.max; step *= asha.eta) {
    rungs.push_back(step);
    if (step > asha.max / asha.eta) break;  // the next one is not below max, and may not fit
  }
  return rungs;
}

std::vector<std::int64_t> trials_to_stop(const std::map<std::int64_t, RungValues>& values,
                                         const std::set<std::int64_t>& active, const api::SweepAsha& asha,
                                         const api::SweepObjective& objective) {
  const Rungs rungs(values, asha, objective);
  std::vector<std::int64_t> stop;
  for (const auto trial : active) {
    const auto reached = values.find(trial);
    if (reached == values.end() || reached->second.empty() || rungs.goes_on(reached->second)) continue;
    stop.push_back(trial);
  }
  return stop;
}

}  // namespace gpupool::planning
