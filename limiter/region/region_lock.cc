// SPDX-License-Identifier: Apache-2.0
#include "limiter/region/region_lock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "limiter/region/kill_point.h"
#include "limiter/region/monotonic.h"
#include "limiter/region/record_lock.h"

namespace gpupool::limiter::region_lock {
namespace {

// The word: 0, or waiters (1 bit), incarnation (20 bits), slot + 1 (11 bits).
constexpr std::uint32_t kWaiters = 1U << 31U;
constexpr unsigned kSlotBits = 11;
constexpr std::uint32_t kIncarnationMask = (1U << 20U) - 1;
static_assert(kMaxSlots < (1U << kSlotBits));

constexpr int kSpins = 100;
constexpr std::uint64_t kFirstPause = 1'000'000;  // nanoseconds until a waiter looks whether the owner lives
constexpr std::uint64_t kLongestPause = 16'000'000;

std::uint32_t name_of(unsigned slot, std::uint64_t incarnation) {
  return (static_cast<std::uint32_t>(incarnation & kIncarnationMask) << kSlotBits) | (slot + 1);
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t value, std::uint64_t nanoseconds) {
  struct timespec timeout{};
  timeout.tv_sec = static_cast<time_t>(nanoseconds / 1'000'000'000);
  timeout.tv_nsec = static_cast<long>(nanoseconds % 1'000'000'000);
  ::syscall(SYS_futex, &word, FUTEX_WAIT, value, &timeout, nullptr, 0);
}

// Whether the process that `word` names still has it. A slot that does not exist, or that another incarnation
// uses, is a dead owner's.
bool owner_lives(const Owner& me, std::uint32_t word) {
  const std::uint32_t name = word & ~kWaiters;
  const std::uint32_t number = name & ((1U << kSlotBits) - 1);
  if (number == 0 || number > kMaxSlots || me.mapped.fd < 0) return false;
  const unsigned slot = number - 1;
  // Our own name: the caller, the only thread here, does not have the lock.
  if (slot == me.slot) return false;
  if (name != name_of(slot, me.mapped.region->slots[slot].incarnation.load(std::memory_order_relaxed)))
    return false;
  // Without the file nobody is known to be dead.
  return !descriptor_is_good(me.mapped) || record_lock::held_by_other(me.mapped.fd, kSlotLockBase + slot);
}

bool try_take(std::atomic<std::uint32_t>& word, std::uint32_t mine) {
  std::uint32_t free = 0;
  return word.compare_exchange_strong(free, mine, std::memory_order_acquire, std::memory_order_relaxed);
}

bool acquire_slowly(const Owner& me, std::uint32_t mine, std::uint64_t timeout_ns) {
  std::atomic<std::uint32_t>& word = me.mapped.region->lock;
  for (int i = 0; i < kSpins; ++i) {
    if (word.load(std::memory_order_relaxed) == 0 && try_take(word, mine)) return true;
    relax();
  }
  const std::uint64_t deadline = monotonic_ns() + timeout_ns;
  std::uint64_t pause = kFirstPause;
  for (;;) {
    std::uint32_t seen = word.load(std::memory_order_relaxed);
    if (seen == 0) {
      // Others may wait as well: whoever has waited wakes the next.
      if (try_take(word, mine | kWaiters)) return true;
      continue;
    }
    const std::uint32_t waited_on = seen | kWaiters;
    if (seen != waited_on && !word.compare_exchange_strong(seen, waited_on, std::memory_order_relaxed))
      continue;
    const std::uint64_t begin = monotonic_ns();
    if (begin >= deadline) return false;
    GPUPOOL_KILL_POINT("lock.waiting");
    futex_wait(word, waited_on, std::min(pause, deadline - begin));
    if (monotonic_ns() - begin < pause) continue;  // woken, or the word had changed
    pause = std::min(pause * 2, kLongestPause);
    std::uint32_t dead = waited_on;
    if (word.load(std::memory_order_relaxed) == dead && !owner_lives(me, dead) &&
        word.compare_exchange_strong(dead, mine | kWaiters, std::memory_order_acquire,
                                     std::memory_order_relaxed)) {
      return true;
    }
  }
}

}  // namespace

bool acquire(const Owner& owner, std::uint64_t timeout_ns) {
  const std::uint32_t mine = name_of(owner.slot, owner.incarnation);
  return try_take(owner.mapped.region->lock, mine) || acquire_slowly(owner, mine, timeout_ns);
}

void release(const Owner& owner) {
  const std::uint32_t mine = name_of(owner.slot, owner.incarnation);
  std::atomic<std::uint32_t>& word = owner.mapped.region->lock;
  std::uint32_t seen = mine;
  if (word.compare_exchange_strong(seen, 0, std::memory_order_release, std::memory_order_relaxed)) return;
  // Not ours any more if somebody wrote into the region.
  if (seen != (mine | kWaiters)) return;
  if (!word.compare_exchange_strong(seen, 0, std::memory_order_release, std::memory_order_relaxed)) return;
  GPUPOOL_KILL_POINT("unlock.before-wake");
  ::syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

}  // namespace gpupool::limiter::region_lock
