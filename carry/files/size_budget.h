// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "failure/failure.h"

namespace gpupool::carry {

// The bytes that all files together may still take. Thread-safe.
class SizeBudget {
 public:
  explicit SizeBudget(std::int64_t bytes) : limit_(bytes), left_(bytes) {}
  // Returns kTooLarge, and takes nothing, if fewer are left.
  Outcome<void> take(std::int64_t bytes);
  void give_back(std::int64_t bytes) { left_ += bytes; }
  std::int64_t left() const { return left_; }

 private:
  const std::int64_t limit_;
  std::atomic<std::int64_t> left_;
};

}  // namespace gpupool::carry
