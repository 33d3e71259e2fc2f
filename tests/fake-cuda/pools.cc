// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/pools.h"

namespace gpupool::fake_cuda {

Result free_to_pool(Driver& driver, Pointer address) {
  driver.memory().remove(address);
  return Result::kSuccess;
}

}  // namespace gpupool::fake_cuda
