// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>

#include "tests/fake-cuda/driver.h"

// Begins the definition of an exported function. The build looks for this word to know which names the fake
// defines.
#define CUDA_FUNCTION(name) \
  extern "C" __attribute__((visibility("default"))) ::gpupool::fake_cuda::Result name

namespace gpupool::fake_cuda {

// Runs `body(driver)` under the driver's lock if it is initialised and no failure is to be injected. `name`
// is the exported function's.
template <class Body>
Result call(const char* name, Body body) {
  Driver& d = driver();
  const std::lock_guard lock(d.mutex);
  if (d.forked() || !d.initialised()) return Result::kNotInitialized;
  if (const auto failure = d.failure(name)) return *failure;
  return body(d);
}

// The same with the calling thread's context: `body(driver, context)`.
template <class Body>
Result call_in_context(const char* name, Body body) {
  return call(name, [&](Driver& d) {
    Context* const context = d.current();
    if (context != nullptr) return body(d, *context);
    return d.stack().empty() ? Result::kInvalidContext : Result::kContextIsDestroyed;
  });
}

// The same for a device: `body(driver, device)`.
template <class Body>
Result call_for_device(const char* name, Ordinal ordinal, Body body) {
  return call(name, [&](Driver& d) {
    Device* const device = d.device(ordinal);
    return device != nullptr ? body(d, *device) : Result::kInvalidDevice;
  });
}

// Stores a result for the caller.
template <class T, class Value>
Result put(T* out, Value value) {
  if (out == nullptr) return Result::kInvalidValue;
  *out = static_cast<T>(value);
  return Result::kSuccess;
}

}  // namespace gpupool::fake_cuda
