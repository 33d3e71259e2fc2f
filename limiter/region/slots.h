// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "limiter/region/layout.h"

namespace gpupool::limiter::slots {

// Slots of a region: taking one, clearing those of dead processes, and sums. `fd` is the region's file, or -1
// for memory of this process alone. One thread of a process at a time calls what changes slots: record locks
// do not tell threads apart.

inline constexpr unsigned kNone = kMaxSlots;

// Takes a free slot for this process and clears it; a dead process's if none is free. kNone: all belong to
// living processes.
unsigned take(Region& region, int fd);

struct Reaped {
  unsigned cleared;
  // Slots that stay, because their processes still end and the driver has their memory.
  unsigned leaving;
};

// Clears the slots of dead processes, all but `own`; reap_some() looks at a few, others at each call. Whoever
// clears a slot has taken its record lock, so there is one. To be called with the region's lock: to others
// the slot looks like that of a living process until it is cleared.
Reaped reap(Region& region, int fd, unsigned own);
Reaped reap_some(Region& region, int fd, unsigned own);

// What all slots hold of a device, reserved bytes included; the largest number if it does not fit.
std::uint64_t sum(const Region& region, unsigned device);

// Whether slots besides `own` may hold bytes.
bool others(const Region& region, unsigned own);

inline bool marked(const Region& region, unsigned slot) {
  return (region.used_slots[slot / 64].load(std::memory_order_relaxed) >> (slot % 64) & 1U) != 0;
}

}  // namespace gpupool::limiter::slots
