// SPDX-License-Identifier: Apache-2.0
// cuCtxSetLimit: stacks of all threads of the device, and heaps, are allocated at once.
#include "limiter/cuda/allocations.h"
#include "limiter/cuda/charge.h"
#include "limiter/cuda/context_charge.h"
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/session.h"

namespace gpupool::limiter {

namespace {

// Bytes of device memory for a value of the limit; 0 for limits that take none.
std::uint64_t bytes_of_limit(Enum limit, std::uint64_t value, CUdevice device) {
  if (limit == kLimitPrintfFifo || limit == kLimitMallocHeap) {
    return round_to_blocks(value);
  }
  int processors = 0;
  int threads = 0;
  if (limit != kLimitStackSize ||
      driver::cuDeviceGetAttribute(&processors, kAttributeMultiprocessors, device) != kSuccess ||
      driver::cuDeviceGetAttribute(&threads, kAttributeThreadsPerMultiprocessor, device) != kSuccess) {
    return 0;
  }
  std::uint64_t bytes = 0;
  return __builtin_mul_overflow(static_cast<std::uint64_t>(processors) * static_cast<std::uint64_t>(threads),
                                value, &bytes)
             ? ~0ULL
             : round_to_blocks(bytes);
}

}  // namespace

CUresult cuCtxSetLimit(Enum limit, std::size_t value) {
  const auto call = [=] { return REAL(cuCtxSetLimit)(limit, value); };
  CUdevice device = 0;
  unsigned position = kUncharged;
  std::size_t before = 0;
  if (!session.limits_anything() || session.current(device, position) != kSuccess || position == kUncharged ||
      driver::cuCtxGetLimit(&before, limit) != kSuccess) {
    return call();
  }
  const std::uint64_t had = bytes_of_limit(limit, before, device);
  const std::uint64_t wanted = bytes_of_limit(limit, value, device);
  Reserved reserved;
  if (wanted > had && !reserved.reserve(position, wanted - had)) {
    return kOutOfMemory;
  }
  const CUresult result = call_patiently(position, reserved.bytes(), call);
  std::size_t after = 0;
  if (result != kSuccess || driver::cuCtxGetLimit(&after, limit) != kSuccess) {
    return result;
  }
  // The driver rounds the value, or takes another.
  const std::uint64_t has = bytes_of_limit(limit, after, device);
  if (has > had) {
    context_grew(position, reserved, has - had);
  } else if (has < had) {
    context_shrank(position, had - has);
  }
  return result;
}

}  // namespace gpupool::limiter
