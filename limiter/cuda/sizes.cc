// SPDX-License-Identifier: Apache-2.0
// What programs are told of a device's memory: the slice's.
#include <algorithm>

#include "limiter/cuda/context_charge.h"
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/pool_charge.h"
#include "limiter/cuda/session.h"

namespace gpupool::limiter {

namespace {

// No more than the slice has, in either width.
template <typename Size>
void show_slice(unsigned position, Size* free, Size& total) {
  Ledger& ledger = session.ledger();
  const std::uint64_t limit = ledger.limit(position);
  if (limit == Ledger::kNoLimit) {
    return;
  }
  total = static_cast<Size>(std::min<std::uint64_t>(total, limit));
  if (free != nullptr) {
    const std::uint64_t used = ledger.used(position);
    *free = static_cast<Size>(std::min<std::uint64_t>(*free, used < limit ? limit - used : 0));
  }
}

template <typename Size, typename Call>
CUresult memory_info(Size* free, Size* total, Call call) {
  const CUresult result = call();
  CUdevice device = 0;
  unsigned position = kUncharged;
  if (result != kSuccess || free == nullptr || total == nullptr || !session.limits_anything() ||
      session.current(device, position) != kSuccess || position == kUncharged) {
    return result;
  }
  measure_first_context(device, position);
  if (pools_may_have_shrunk(position)) {
    settle_pools(position);
  }
  show_slice(position, free, *total);
  return result;
}

template <typename Size, typename Call>
CUresult total_memory(Size* bytes, CUdevice device, Call call) {
  const CUresult result = call();
  if (result != kSuccess || bytes == nullptr || !session.limits_anything()) {
    return result;
  }
  const unsigned position = session.position(device);
  if (position != kUncharged) {
    show_slice<Size>(position, nullptr, *bytes);
  }
  return result;
}

}  // namespace

CUresult cuMemGetInfo(unsigned* free, unsigned* total) {
  return memory_info(free, total, [=] { return REAL(cuMemGetInfo)(free, total); });
}

CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return memory_info(free, total, [=] { return REAL(cuMemGetInfo_v2)(free, total); });
}

CUresult cuDeviceTotalMem(unsigned* bytes, CUdevice device) {
  return total_memory(bytes, device, [=] { return REAL(cuDeviceTotalMem)(bytes, device); });
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  return total_memory(bytes, device, [=] { return REAL(cuDeviceTotalMem_v2)(bytes, device); });
}

}  // namespace gpupool::limiter
