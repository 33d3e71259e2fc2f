// SPDX-License-Identifier: Apache-2.0
// Memory of pools, in the order of a stream. On a stream that is captured these calls become nodes of a
// graph, which count when the graph is instantiated.
#include "limiter/cuda/allocations.h"
#include "limiter/cuda/charge.h"
#include "limiter/cuda/context_charge.h"
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/free_pointer.h"
#include "limiter/cuda/pool_charge.h"
#include "limiter/cuda/session.h"
#include "limiter/cuda/stream_device.h"

namespace gpupool::limiter {

namespace {

// A pool that was made by no call of ours is the default one of some device; `device` if not even that.
std::uint64_t number_of(CUmemoryPool pool, CUdevice device) {
  std::uint64_t number = 0;
  if (find_pool(pool, number)) {
    return number;
  }
  int count = 0;
  if (driver::cuDeviceGetCount(&count) == kSuccess) {
    for (CUdevice other = 0; other < count; ++other) {
      CUmemoryPool of_other = nullptr;
      if (driver::cuDeviceGetDefaultMemPool(&of_other, other) == kSuccess && of_other == pool) {
        return pool_number(pool, other);
      }
    }
  }
  return pool_number(pool, device);
}

// The memory is given back in the order of the stream, where nothing uses it.
void undo(const PoolRequest& request, CUmemoryPool pool, CUdeviceptr pointer, CUstream stream,
          bool own_default) {
  Leaving leaving(Kept::kPointer, pointer);
  const CUresult result =
      own_default ? REAL(cuMemFreeAsync_ptsz)(pointer, stream) : REAL(cuMemFreeAsync)(pointer, stream);
  if (result == kSuccess) {
    leaving.done();
    // A pool gives nothing back before its stream has come to the free. Other pools may have by then.
    own_default ? cuStreamSynchronize_ptsz(stream) : cuStreamSynchronize(stream);
    REAL(cuMemPoolTrimTo)(pool, request.had());
    freed_to_pool(request.number());
    if (session.ledger().used(request.position()) > session.ledger().limit(request.position())) {
      REAL(cuMemPoolTrimTo)(pool, 0);  // its pieces did not allow for that size
      settle_pool(request.number());
    }
  }
}

template <typename Call>
CUresult allocate(CUdeviceptr* pointer, std::size_t bytes, CUmemoryPool pool, CUstream stream,
                  bool own_default, Call call) {
  if (pointer == nullptr || !session.limits_anything()) {
    return call();
  }
  CUdevice device = 0;
  bool captured = false;
  CUresult found = is_captured(stream, own_default, captured);
  if (found == kSuccess && captured) {
    return call();
  }
  if (found == kSuccess) {
    found = device_of_stream(stream, device);
  }
  if (found == kSuccess && pool == nullptr) {
    found = driver::cuDeviceGetMemPool(&pool, device);
  }
  if (found != kSuccess) {
    return found;
  }
  measure_if_due();
  const std::uint64_t number = number_of(pool, device);
  if (number == 0) {
    return call();
  }
  PoolRequest request(number);
  if (!request.reserve(bytes)) {
    return kOutOfMemory;
  }
  const CUresult result = call_patiently(request.position(), bytes, call);
  if (result != kSuccess) {
    return result;
  }
  keep_of_pool(*pointer, number);
  allocated_from_pool(number);
  if (!request.settle()) {
    undo(request, pool, *pointer, stream, own_default);
    session.ledger().count_refusal(request.position());
    return kOutOfMemory;
  }
  return result;
}

template <typename Call>
CUresult free_async(CUdeviceptr pointer, CUstream stream, bool own_default, Call call) {
  bool captured = false;
  if (!session.limits_anything() || (is_captured(stream, own_default, captured) == kSuccess && captured)) {
    return call();
  }
  return free_pointer(pointer, call);
}

}  // namespace

CUresult cuMemAllocAsync(CUdeviceptr* pointer, std::size_t bytes, CUstream stream) {
  return allocate(pointer, bytes, nullptr, stream, false,
                  [=] { return REAL(cuMemAllocAsync)(pointer, bytes, stream); });
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr* pointer, std::size_t bytes, CUstream stream) {
  return allocate(pointer, bytes, nullptr, stream, true,
                  [=] { return REAL(cuMemAllocAsync_ptsz)(pointer, bytes, stream); });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, std::size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  const auto call = [=] { return REAL(cuMemAllocFromPoolAsync)(pointer, bytes, pool, stream); };
  return pool == nullptr ? call() : allocate(pointer, bytes, pool, stream, false, call);
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr* pointer, std::size_t bytes, CUmemoryPool pool,
                                      CUstream stream) {
  const auto call = [=] { return REAL(cuMemAllocFromPoolAsync_ptsz)(pointer, bytes, pool, stream); };
  return pool == nullptr ? call() : allocate(pointer, bytes, pool, stream, true, call);
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  return free_async(pointer, stream, false, [=] { return REAL(cuMemFreeAsync)(pointer, stream); });
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr pointer, CUstream stream) {
  return free_async(pointer, stream, true, [=] { return REAL(cuMemFreeAsync_ptsz)(pointer, stream); });
}

}  // namespace gpupool::limiter
