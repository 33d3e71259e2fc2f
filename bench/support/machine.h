// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace gpupool::bench {

// How many cores of this machine work, whoever for, on average since it was made. What a time cannot say:
// whether it was spent waiting.
class BusyCores {
 public:
  BusyCores();
  double since() const;

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  double cpu_s_;
};

}  // namespace gpupool::bench
