// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace gpupool::bench {

using Sample = std::vector<double>;

// The value below which this part (0 to 1) of the sample lies; the nearest one, 0 of an empty sample.
double quantile(Sample sample, double part);

double seconds_since(std::chrono::steady_clock::time_point began);

// What one program has measured, printed as one JSON object for bench/run. Not thread-safe.
class Results {
 public:
  explicit Results(std::string benchmark) : benchmark_(std::move(benchmark)) {}

  void value(const std::string& name, double value, const std::string& unit);
  // Shown by its median, p99, p99.9, least, greatest, and how many there were.
  void sample(const std::string& name, const Sample& sample, const std::string& unit);
  void print() const;

 private:
  std::string benchmark_;
  std::vector<std::string> entries_;
};

}  // namespace gpupool::bench
