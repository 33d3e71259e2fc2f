// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>

namespace gpupool::runtime {

// A part of the program with its own thread, which the Manager starts and stops.
class Runnable {
 public:
  virtual ~Runnable() = default;
  virtual std::string name() const = 0;
  // Blocks until stop is requested, then returns promptly. Must not throw.
  virtual void run(std::stop_token stop) = 0;
};

}  // namespace gpupool::runtime
