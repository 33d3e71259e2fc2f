// SPDX-License-Identifier: Apache-2.0
#include "limiter/region/slots.h"

#include <unistd.h>

#include <algorithm>
#include <bit>

#include "limiter/region/kill_point.h"
#include "limiter/region/leaving.h"
#include "limiter/region/record_lock.h"
#include "limiter/region/saturating.h"

namespace gpupool::limiter::slots {
namespace {

// reap_some() ends at the first living process: the kernel goes through all locks of the file for each that
// it looks at, which is 10 us with 1,000 processes. So on the average it clears one slot where half are dead,
// and the table grows no further.
constexpr unsigned kMostCleared = 8;

bool lock_slot(int fd, unsigned slot) { return fd < 0 || record_lock::try_take(fd, kSlotLockBase + slot); }

void unlock_slot(int fd, unsigned slot) {
  if (fd >= 0) record_lock::give_back(fd, kSlotLockBase + slot);
}

std::uint64_t bit_of(unsigned slot) { return 1ULL << (slot % 64); }

// With the slot's record lock.
void clear(Slot& slot) {
  // First of all: a process that has lost the slot sees that it is not its own any more.
  slot.incarnation.fetch_add(1, std::memory_order_relaxed);
  for (DeviceUse& use : slot.devices) {
    use.total.store(0, std::memory_order_relaxed);
    GPUPOOL_KILL_POINT("clear.device");
    for (auto& bytes : use.bytes) bytes.store(0, std::memory_order_relaxed);
  }
  slot.pid.store(0, std::memory_order_relaxed);
}

bool has_bytes(const Slot& slot) {
  return std::ranges::any_of(
      slot.devices, [](const DeviceUse& use) { return use.total.load(std::memory_order_relaxed) != 0; });
}

// Clears a slot if its process is dead, and counts it. False: the process lives.
bool reap_one(Region& region, int fd, unsigned slot, Reaped& reaped) {
  if (!lock_slot(fd, slot)) return false;
  if (has_bytes(region.slots[slot]) &&
      process_is_leaving(region.slots[slot].pid.load(std::memory_order_relaxed))) {
    unlock_slot(fd, slot);
    ++reaped.leaving;
    return true;
  }
  GPUPOOL_KILL_POINT("reap.locked");
  // Another may have reaped it, and a third have taken, used and left it: it is dead all the same.
  clear(region.slots[slot]);
  GPUPOOL_KILL_POINT("reap.cleared");
  region.used_slots[slot / 64].fetch_and(~bit_of(slot), std::memory_order_relaxed);
  GPUPOOL_KILL_POINT("reap.unmarked");
  unlock_slot(fd, slot);
  ++reaped.cleared;
  return true;
}

template <typename Visit>
void for_each_marked(const Region& region, Visit visit) {
  for (unsigned word = 0; word < kSlotWords; ++word) {
    std::uint64_t bits = region.used_slots[word].load(std::memory_order_acquire);
    while (bits != 0) {
      visit(word * 64 + static_cast<unsigned>(std::countr_zero(bits)));
      bits &= bits - 1;
    }
  }
}

// With the slot's record lock.
unsigned move_in(Region& region, unsigned slot) {
  GPUPOOL_KILL_POINT("attach.locked");
  clear(region.slots[slot]);
  GPUPOOL_KILL_POINT("attach.cleared");
  region.slots[slot].pid.store(::getpid(), std::memory_order_relaxed);
  region.used_slots[slot / 64].fetch_or(bit_of(slot), std::memory_order_release);
  GPUPOOL_KILL_POINT("attach.marked");
  return slot;
}

unsigned take_free(Region& region, int fd) {
  for (unsigned word = 0; word < kSlotWords; ++word) {
    std::uint64_t free = ~region.used_slots[word].load(std::memory_order_relaxed);
    for (; free != 0; free &= free - 1) {
      const unsigned slot = word * 64 + static_cast<unsigned>(std::countr_zero(free));
      if (lock_slot(fd, slot)) return move_in(region, slot);
    }
  }
  return kNone;
}

}  // namespace

unsigned take(Region& region, int fd) {
  const unsigned free = take_free(region, fd);
  if (free != kNone) return free;
  for (unsigned slot = 0; slot < kMaxSlots; ++slot) {
    if (lock_slot(fd, slot)) return move_in(region, slot);
  }
  return kNone;
}

Reaped reap_some(Region& region, int fd, unsigned own) {
  Reaped reaped{};
  bool living = fd < 0;
  unsigned slot = region.reap_hint.load(std::memory_order_relaxed) % kMaxSlots;
  for (unsigned i = 0; i < kMaxSlots && reaped.cleared < kMostCleared && !living;
       ++i, slot = (slot + 1) % kMaxSlots) {
    if (slot == own || !marked(region, slot)) continue;
    living = !reap_one(region, fd, slot, reaped);
  }
  region.reap_hint.store(slot, std::memory_order_relaxed);
  return reaped;
}

Reaped reap(Region& region, int fd, unsigned own) {
  Reaped reaped{};
  if (fd < 0) return reaped;
  for_each_marked(region, [&](unsigned slot) {
    if (slot != own) reap_one(region, fd, slot, reaped);
  });
  return reaped;
}

std::uint64_t sum(const Region& region, unsigned device) {
  std::uint64_t total = 0;
  for_each_marked(region, [&](unsigned slot) {
    total = add_up(total, region.slots[slot].devices[device].total.load(std::memory_order_relaxed));
  });
  return total;
}

bool others(const Region& region, unsigned own) {
  bool found = false;
  for_each_marked(region, [&](unsigned slot) { found = found || slot != own; });
  return found;
}

}  // namespace gpupool::limiter::slots
