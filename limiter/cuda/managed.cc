// SPDX-License-Identifier: Apache-2.0
// Managed memory counts in full from its allocation on: the driver moves it to the device as kernels use it,
// and NVML counts it for no process.
#include "limiter/cuda/allocations.h"
#include "limiter/cuda/charge.h"
#include "limiter/cuda/context_charge.h"
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/session.h"

namespace gpupool::limiter {

CUresult cuMemAllocManaged(CUdeviceptr* pointer, std::size_t bytes, unsigned flags) {
  if (pointer == nullptr || !session.limits_anything()) {
    return REAL(cuMemAllocManaged)(pointer, bytes, flags);
  }
  CUdevice device = 0;
  unsigned position = kUncharged;
  const CUresult found = session.current(device, position);
  if (found != kSuccess) {
    return found;
  }
  Reserved reserved;
  const std::uint64_t size = round_to_blocks(bytes);
  if (!reserved.reserve(position, size)) {
    return kOutOfMemory;
  }
  const CUresult result =
      call_patiently(position, size, [&] { return REAL(cuMemAllocManaged)(pointer, bytes, flags); });
  if (result == kSuccess) {
    keep(Kept::kPointer, *pointer, reserved, Class::kManaged, size, current_context_number());
    measure_first_context(device, position);
  }
  return result;
}

}  // namespace gpupool::limiter
