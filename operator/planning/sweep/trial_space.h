// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/v1alpha1/gpu_sweep.h"

namespace gpupool::planning {

inline constexpr std::int64_t kMaxTrials = 1000;
// Parameters with numbers below this are exact as a double.
inline constexpr std::int64_t kMaxInteger = 1'000'000'000'000'000;

// The values of one trial by the names of the parameters.
using TrialParameters = std::map<std::string, std::string>;

// The parameters of every trial of a sweep: a pure function of its spec and the index of the trial. In a grid
// the last parameter changes fastest. In a list, trial i has the i-th value of each parameter. Random trials
// differ from each other. If the parameters have no more combinations than trials are asked for, the trials
// are all combinations, in the order of a grid.
class TrialSpace {
 public:
  // REQUIRES: the spec is valid (sweep_validation.h).
  explicit TrialSpace(const api::GpuSweepSpec& spec);

  std::int64_t size() const { return static_cast<std::int64_t>(trials_.size()); }
  // REQUIRES: 0 <= trial < size().
  TrialParameters parameters(std::int64_t trial) const;
  // True if there are fewer combinations than random trials were asked for.
  bool is_exhausted() const { return exhausted_; }

 private:
  using Values = std::vector<std::string>;  // in the order of names_

  std::vector<std::string> names_;
  std::vector<Values> trials_;
  bool exhausted_ = false;
};

// Number of values of a parameter; INT64_MAX for a range of real numbers.
std::int64_t value_count(const api::SweepParameter& parameter);
// Number of combinations of all parameters; INT64_MAX if it is that or more.
std::int64_t combination_count(const api::GpuSweepSpec& spec);

}  // namespace gpupool::planning
