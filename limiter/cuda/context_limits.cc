// SPDX-License-Identifier: Apache-2.0
// cuCtxSetLimit: stacks of all threads of the device, and heaps, are allocated at once.
#include "limiter/cuda/allocations.h"
#include "limiter/cuda/charge.h"
#include "limiter/cuda/context_charge.h"
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/session.h"

namespace gpupool::limiter {

namespace {

// How many bytes of the device one of the limit's value takes; 0: none.
CUresult find_scale(Enum limit, CUdevice device, std::uint64_t& scale) {
  scale = limit == kLimitPrintfFifo || limit == kLimitMallocHeap ? 1 : 0;
  if (limit != kLimitStackSize) {
    return kSuccess;
  }
  int processors = 0;
  int threads = 0;
  CUresult result = driver::cuDeviceGetAttribute(&processors, kAttributeMultiprocessors, device);
  if (result == kSuccess) {
    result = driver::cuDeviceGetAttribute(&threads, kAttributeThreadsPerMultiprocessor, device);
  }
  scale = static_cast<std::uint64_t>(processors) * static_cast<std::uint64_t>(threads);
  return result;
}

std::uint64_t scaled(std::uint64_t scale, std::uint64_t value) {
  std::uint64_t bytes = 0;
  return __builtin_mul_overflow(scale, value, &bytes) ? ~0ULL : round_to_blocks(bytes);
}

}  // namespace

CUresult cuCtxSetLimit(Enum limit, std::size_t value) {
  const auto call = [=] { return REAL(cuCtxSetLimit)(limit, value); };
  CUdevice device = 0;
  unsigned position = kUncharged;
  std::size_t before = 0;
  if (!session.limits_anything()) {
    return call();
  }
  CUresult found = session.current(device, position);
  if (found == kSuccess && position == kUncharged) {
    return call();
  }
  CUcontext context = nullptr;
  std::uint64_t scale = 0;
  found = found == kSuccess ? driver::cuCtxGetCurrent(&context) : found;
  found = found == kSuccess ? driver::cuCtxGetLimit(&before, limit) : found;
  found = found == kSuccess ? find_scale(limit, device, scale) : found;
  if (found != kSuccess) {
    return found;
  }
  const std::uint64_t had = scaled(scale, before);
  const std::uint64_t wanted = scaled(scale, value);
  Reserved reserved;
  if (wanted > had && !reserved.reserve(position, wanted - had)) {
    return kOutOfMemory;
  }
  const CUresult result = call_patiently(position, reserved.bytes(), call);
  if (result != kSuccess) {
    return result;
  }
  // The driver rounds the value, or takes another.
  std::size_t after = 0;
  if (driver::cuCtxGetLimit(&after, limit) != kSuccess) {
    after = value;
  }
  const std::uint64_t has = scaled(scale, after);
  if (has > had) {
    context_grew(context, position, reserved, has - had);
  } else if (has < had) {
    context_shrank(context, position, had - has);
  }
  return result;
}

}  // namespace gpupool::limiter
