// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "limiter/region/layout.h"
#include "limiter/region/region_file.h"

namespace gpupool::limiter::region_lock {

// The lock of a region: one word that names its owner, a slot and its incarnation, and a futex to wait on. An
// owner that was killed leaves it locked; a waiter who finds that the owner's slot has no living process
// takes it over. There is nothing to repair: what the lock protects is one store.
//
// A robust pthread mutex does the same with pointers of the owner in the region, which a program that writes
// there turns into crashes of its neighbours, and with thread IDs, which two PID namespaces that share a
// region confuse.

// Of the process that asks.
struct Owner {
  const MappedRegion& mapped;
  unsigned slot;
  std::uint64_t incarnation;
};

// Waits up to `timeout_ns` for the lock. False: not had in time, because its owner lives and does not go on
// (stopped by a debugger, a freezer or a checkpoint). One thread of a process at a time.
bool acquire(const Owner& owner, std::uint64_t timeout_ns);

void release(const Owner& owner);

}  // namespace gpupool::limiter::region_lock
