// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "limiter/cuda/charge.h"
#include "limiter/cuda/table.h"
#include "limiter/cuda/types.h"

namespace gpupool::limiter {

// What this process has allocated and is charged for, by pointer and by array: frees are compared with it.
// What is not in it was never charged (memory of others, memory from before the limits).

// The driver gives memory in blocks of 2 MiB; small allocations share one.
inline constexpr std::uint64_t kBlock = 2ULL << 20U;

inline std::uint64_t round_to_blocks(std::uint64_t bytes) {
  const std::uint64_t rounded = (bytes + kBlock - 1) / kBlock * kBlock;
  return rounded >= bytes ? rounded : ~0ULL;  // no device has so much
}

struct Allocation {
  Charged charged;
  std::uint64_t context;  // it goes with the one of this number (context_charge.h); 0: with none
  std::uint64_t shares;   // bytes from its pointer on that share blocks; 0: `charged` says all
  std::uint64_t pool;     // number of the pool that it is from; 0: none
};

enum class Kept : std::uint8_t { kPointer, kArray };

// Counts an allocation that the driver made within `reserved`, all of its own. `context` as in Allocation.
void keep(Kept what, std::uint64_t key, Reserved& reserved, Class kind, std::uint64_t bytes,
          std::uint64_t context);

// The same for cuMemAlloc, whose blocks may be shared: what is charged is the blocks that had nothing before.
void keep_in_blocks(CUdeviceptr pointer, std::uint64_t bytes, Reserved& reserved, std::uint64_t context);

// Whether small allocations on the device at this position share blocks, so that another may fit into one
// without more being charged.
bool shares_blocks(unsigned position);

// Counts an allocation of cuMemAlloc if it lies in a block that is charged already. `reserved` is for 0
// bytes. False: it does not, and nothing is done.
bool keep_in_known_block(CUdeviceptr pointer, std::uint64_t bytes, Reserved& reserved, std::uint64_t context);

// The same for memory of a pool, which is charged for what the pool holds.
void keep_of_pool(CUdeviceptr pointer, std::uint64_t pool);

// One free: it is taken out before the driver's call, since the driver may give the same pointer to another
// thread before the call returns. done() gives the charge back; without it the allocation is put back.
class Leaving {
 public:
  Leaving(Kept what, std::uint64_t key);
  ~Leaving();
  Leaving(const Leaving&) = delete;
  Leaving& operator=(const Leaving&) = delete;

  bool found() const { return found_; }
  const Allocation& allocation() const { return allocation_; }
  void done();

 private:
  Kept what_;
  bool found_ = false;
  std::uint64_t key_;
  Allocation allocation_{};
};

// The context is gone, and with it what it owned.
void context_gone(std::uint64_t context);

void forget_allocations_after_fork();

}  // namespace gpupool::limiter
