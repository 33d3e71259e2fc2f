// SPDX-License-Identifier: Apache-2.0
// cuMemAlloc and its kind: linear memory of the current context.
#include <sched.h>

#include <atomic>

#include "limiter/cuda/allocations.h"
#include "limiter/cuda/charge.h"
#include "limiter/cuda/context_charge.h"
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/free_pointer.h"
#include "limiter/cuda/session.h"
#include "limiter/region/monotonic.h"

namespace gpupool::limiter {

namespace {

// Of CUDA's pitches. A guess before the driver says what it took.
constexpr std::uint64_t kPitchGuess = 512;

// Small allocations that are between the driver's call and the table of blocks.
constinit std::atomic<unsigned> small_inside{0};

struct SmallInside {
  SmallInside() { small_inside.fetch_add(1, std::memory_order_seq_cst); }
  ~SmallInside() { small_inside.fetch_sub(1, std::memory_order_seq_cst); }
  SmallInside(const SmallInside&) = delete;
  SmallInside& operator=(const SmallInside&) = delete;
};

// How long the smallest allocations wait for each other where there is no room: not longer than some
// milliseconds, also where other programs keep the processors busy.
constexpr int kShareTries = 60;
constexpr int kShareYields = 20;
constexpr std::uint64_t kSharePause = 50'000;  // nanoseconds

// There is no room for one more block, but there may be in one that is charged. Where a small allocation lies
// says only the driver, so it is asked, and what lies in a new block is freed again.
template <typename Call, typename Actual>
CUresult allocate_in_known_block(unsigned position, const CUdeviceptr& pointer, Call call, Actual actual) {
  Reserved nothing;
  if (!nothing.reserve(position, 0)) {
    return kOutOfMemory;
  }
  const CUresult result = call();
  if (result != kSuccess) {
    return result;
  }
  const std::uint64_t bytes = actual();
  const std::uint64_t context = current_context_number();
  for (int tries = 0; tries < kShareTries; ++tries) {
    // Another thread may be about to tell of the block, which the driver has made for it.
    const bool alone = small_inside.load(std::memory_order_seq_cst) <= 1;
    if (keep_in_known_block(pointer, bytes, nothing, context)) {
      return kSuccess;
    }
    if (alone) {
      break;
    }
    if (tries < kShareYields) {
      sched_yield();
    } else {
      sleep_ns(kSharePause);
    }
  }
  Reserved block;
  if (block.reserve(position, kBlock)) {  // meanwhile there is room
    keep_in_blocks(pointer, bytes, block, context);
    return kSuccess;
  }
  REAL(cuMemFree_v2)(pointer);
  return kOutOfMemory;
}

// `call()` allocates and stores a CUdeviceptr in `pointer`; `actual()` says how many bytes that were.
template <typename Call, typename Actual>
CUresult allocate_linear(std::uint64_t bytes, CUdeviceptr& pointer, Call call, Actual actual) {
  CUdevice device = 0;
  unsigned position = kUncharged;
  const CUresult found = session.current(device, position);
  if (found != kSuccess) {
    return found;
  }
  measure_if_due();
  const SmallInside inside;
  const bool may_share = bytes != 0 && bytes <= kBlock / 2 && position != kUncharged &&
                         (shares_blocks(position) || small_inside.load(std::memory_order_seq_cst) > 1);
  Reserved reserved;
  if (may_share && !reserved.try_reserve(position, kBlock)) {
    return allocate_in_known_block(position, pointer, call, actual);
  }
  if (!may_share && !reserved.reserve(position, round_to_blocks(bytes))) {
    return kOutOfMemory;
  }
  const CUresult result = call_patiently(position, bytes, call);
  if (result == kSuccess) {
    keep_in_blocks(pointer, actual(), reserved, current_context_number());
    measure_first_context(device, position);
  }
  return result;
}

std::uint64_t pitched_bytes(std::uint64_t width, std::uint64_t height) {
  std::uint64_t bytes = 0;
  const std::uint64_t pitch = (width + kPitchGuess - 1) / kPitchGuess * kPitchGuess;
  return __builtin_mul_overflow(pitch, height, &bytes) || pitch < width ? ~0ULL : bytes;
}

}  // namespace

CUresult cuMemAlloc(CUdeviceptr_v1* pointer, unsigned bytes) {
  if (pointer == nullptr || !session.limits_anything()) {
    return REAL(cuMemAlloc)(pointer, bytes);
  }
  CUdeviceptr wide = 0;
  return allocate_linear(
      bytes, wide,
      [&] {
        const CUresult result = REAL(cuMemAlloc)(pointer, bytes);
        wide = result == kSuccess ? *pointer : 0;
        return result;
      },
      [bytes] { return std::uint64_t{bytes}; });
}

CUresult cuMemAlloc_v2(CUdeviceptr* pointer, std::size_t bytes) {
  if (pointer == nullptr || !session.limits_anything()) {
    return REAL(cuMemAlloc_v2)(pointer, bytes);
  }
  return allocate_linear(
      bytes, *pointer, [&] { return REAL(cuMemAlloc_v2)(pointer, bytes); }, [bytes] { return bytes; });
}

CUresult cuMemAllocPitch(CUdeviceptr_v1* pointer, unsigned* pitch, unsigned width, unsigned height,
                         unsigned element) {
  if (pointer == nullptr || pitch == nullptr || !session.limits_anything()) {
    return REAL(cuMemAllocPitch)(pointer, pitch, width, height, element);
  }
  CUdeviceptr wide = 0;
  return allocate_linear(
      pitched_bytes(width, height), wide,
      [&] {
        const CUresult result = REAL(cuMemAllocPitch)(pointer, pitch, width, height, element);
        wide = result == kSuccess ? *pointer : 0;
        return result;
      },
      [&] { return std::uint64_t{*pitch} * height; });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* pointer, std::size_t* pitch, std::size_t width, std::size_t height,
                            unsigned element) {
  if (pointer == nullptr || pitch == nullptr || !session.limits_anything()) {
    return REAL(cuMemAllocPitch_v2)(pointer, pitch, width, height, element);
  }
  return allocate_linear(
      pitched_bytes(width, height), *pointer,
      [&] { return REAL(cuMemAllocPitch_v2)(pointer, pitch, width, height, element); },
      [&] { return *pitch * height; });
}

CUresult cuMemFree(CUdeviceptr_v1 pointer) {
  return free_pointer(pointer, [pointer] { return REAL(cuMemFree)(pointer); });
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
  return free_pointer(pointer, [pointer] { return REAL(cuMemFree_v2)(pointer); });
}

}  // namespace gpupool::limiter
