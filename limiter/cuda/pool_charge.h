// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "limiter/cuda/charge.h"
#include "limiter/cuda/types.h"

namespace gpupool::limiter {

// Memory that the driver takes in pieces and hands out in smaller ones: pools, and what a device keeps for
// graphs. What counts is what the driver says that it has reserved, not the requests. Pools are known by
// numbers of ours (never 0), since the driver may give a destroyed pool's handle to a new one.

// The number of a pool, which becomes known with this device if it was not; 0: nothing is charged for it.
std::uint64_t pool_number(CUmemoryPool pool, CUdevice device);
// Whether a pool is known already, and its number.
bool find_pool(CUmemoryPool pool, std::uint64_t& number);
// The number of what the device keeps for graphs.
std::uint64_t graph_pool_number(CUdevice device);

// A new pool. `device` of one whose memory is not the device's, or another process's: kNoDevice.
inline constexpr CUdevice kNoDevice = -1;
void pool_created(CUmemoryPool pool, CUdevice device);
// Between before the driver's call and after it: the last pointers of a destroyed pool hold its memory.
void pool_destroyed(CUmemoryPool pool);

// One request to a pool, around the driver's call.
class PoolRequest {
 public:
  explicit PoolRequest(std::uint64_t number) : number_(number) {}
  ~PoolRequest();
  PoolRequest(const PoolRequest&) = delete;
  PoolRequest& operator=(const PoolRequest&) = delete;

  // Reserves what the pool has to grow by. False: there is no room.
  bool reserve(std::uint64_t bytes);
  // After a call that went well: charges what the pool has now. False: it grew by more than was reserved,
  // since pools grow in steps that nobody tells, and the container is above its limit: the caller gives back
  // what it got. The next request reserves a whole step.
  bool settle();
  unsigned position() const { return reserved_.position(); }
  std::uint64_t number() const { return number_; }
  // Bytes that the pool was charged for when they were reserved.
  std::uint64_t had() const { return had_; }

 private:
  void leave();

  std::uint64_t number_;
  std::uint64_t bytes_ = 0;
  std::uint64_t need_ = 0;
  std::uint64_t had_ = 0;
  bool inside_ = false;
  Reserved reserved_;
};

// Reads what a pool has now and charges that.
void settle_pool(std::uint64_t number);
// All pools of a device, graphs' memory included; all devices': kUncharged.
void settle_pools(unsigned position);

// Pointers of a pool: one more, one less.
void allocated_from_pool(std::uint64_t number);
void freed_to_pool(std::uint64_t number);

// It may give something back at the next wait for the device, without a call of ours.
void pool_may_shrink(std::uint64_t number);
// Whether pools of a device, or of any (kUncharged), may have given back something that is still charged.
bool pools_may_have_shrunk(unsigned position);
// The program has waited: for all work of the device at this position, or for some work (kUncharged).
void pools_have_waited(unsigned position);

void forget_pools_after_fork();

}  // namespace gpupool::limiter
