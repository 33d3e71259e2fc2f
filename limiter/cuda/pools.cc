// SPDX-License-Identifier: Apache-2.0
// Pools themselves. Those whose memory is not a device's, or another process's, are not charged.
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/pool_charge.h"
#include "limiter/cuda/session.h"

namespace gpupool::limiter {

namespace {

CUdevice device_at(const MemLocation& location) {
  return location.type == kLocationDevice ? location.id : kNoDevice;
}

// The driver's own pools of CUDA 13, which also has some for the host's memory.
CUresult told_pool(CUresult result, const CUmemoryPool* pool, const MemLocation* location) {
  std::uint64_t number = 0;
  if (result == kSuccess && pool != nullptr && location != nullptr && session.limits_anything() &&
      !find_pool(*pool, number)) {
    pool_created(*pool, device_at(*location));
  }
  return result;
}

// It has given back something, and may do so again at the next wait.
void settle_handle(CUmemoryPool pool) {
  std::uint64_t number = 0;
  if (find_pool(pool, number) && number != 0) {
    pool_may_shrink(number);
    settle_pool(number);
  }
}

}  // namespace

CUresult cuMemPoolCreate(CUmemoryPool* pool, const MemPoolProps* props) {
  const CUresult result = REAL(cuMemPoolCreate)(pool, props);
  if (result == kSuccess && session.limits_anything()) {
    pool_created(*pool, device_at(props->location));
  }
  return result;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  const CUresult result = REAL(cuMemPoolDestroy)(pool);
  if (result == kSuccess) {
    pool_destroyed(pool);
  }
  return result;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t keep) {
  const CUresult result = REAL(cuMemPoolTrimTo)(pool, keep);
  if (result == kSuccess) {
    settle_handle(pool);
  }
  return result;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, Enum attribute, void* value) {
  const CUresult result = REAL(cuMemPoolSetAttribute)(pool, attribute, value);
  if (result == kSuccess) {
    settle_handle(pool);
  }
  return result;
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* pool, void* handle, Enum type,
                                            unsigned long long flags) {
  const CUresult result = REAL(cuMemPoolImportFromShareableHandle)(pool, handle, type, flags);
  if (result == kSuccess && session.limits_anything()) {
    pool_created(*pool, kNoDevice);
  }
  return result;
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, MemLocation* location, Enum type) {
  return told_pool(REAL(cuMemGetDefaultMemPool)(pool, location, type), pool, location);
}

CUresult cuMemGetMemPool(CUmemoryPool* pool, MemLocation* location, Enum type) {
  return told_pool(REAL(cuMemGetMemPool)(pool, location, type), pool, location);
}

}  // namespace gpupool::limiter
