// SPDX-License-Identifier: Apache-2.0
#include "files/size_budget.h"

#include <string>

namespace gpupool::carry {

Outcome<void> SizeBudget::take(std::int64_t bytes) {
  std::int64_t left = left_;
  do {
    if (bytes > left)
      return failed(FailureKind::kTooLarge,
                    "all files together have more than sizeLimit, " + std::to_string(limit_) + " bytes");
  } while (!left_.compare_exchange_weak(left, left - bytes));
  return {};
}

}  // namespace gpupool::carry
