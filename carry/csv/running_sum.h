// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace gpupool::carry::csv {

// Count, range and mean of numbers that come one after another. What rounding loses is summed too (Knuth's
// two-sum), so the mean is as good as that of an exact sum. Not thread-safe.
class RunningSum {
 public:
  void add(double value) {
    ++count_;
    const double sum = sum_ + value;
    const double part = sum - sum_;
    lost_ += (sum_ - (sum - part)) + (value - part);
    sum_ = sum;
    min_ = value < min_ ? value : min_;
    max_ = value > max_ ? value : max_;
  }
  std::int64_t count() const { return count_; }
  double min() const { return min_; }
  double max() const { return max_; }
  double sum() const { return std::isfinite(sum_ + lost_) ? sum_ + lost_ : sum_; }
  // REQUIRES: count() > 0.
  double mean() const { return sum() / static_cast<double>(count_); }

 private:
  std::int64_t count_ = 0;
  double sum_ = 0;
  double lost_ = 0;
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
};

}  // namespace gpupool::carry::csv
