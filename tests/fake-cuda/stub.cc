// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/stub.h"

#include "tests/fake-cuda/driver.h"

namespace gpupool::fake_cuda {

Result stub_result(const char* name) {
  Driver& d = driver();
  const std::lock_guard lock(d.mutex);
  return d.failure(name).value_or(Result::kNotSupported);
}

}  // namespace gpupool::fake_cuda
