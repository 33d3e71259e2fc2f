// SPDX-License-Identifier: Apache-2.0
#include "limiter/region/ledger.h"

#include <sys/stat.h>

#include <cerrno>

#include <span>

#include "limiter/region/held_mutex.h"
#include "limiter/region/kill_point.h"
#include "limiter/region/monotonic.h"
#include "limiter/region/record_lock.h"
#include "limiter/region/region_lock.h"
#include "limiter/region/saturating.h"
#include "limiter/region/slots.h"

namespace gpupool::limiter {
namespace {

constexpr std::uint64_t kLockTimeout = 10'000'000'000;  // nanoseconds

unsigned index_of(Class what) { return static_cast<unsigned>(what) % kClasses; }

// For limits that no device plugin set.
MappedRegion private_region(const Limits& limits) {
  std::array<RegionDevice, kMaxDevices> devices{};
  for (unsigned i = 0; i < limits.count; ++i) devices[i].limit_bytes = limits.devices[i].bytes;
  return map_private_region(std::span(devices).first(limits.count));
}

bool missing(const char* path) {
  struct stat status{};
  return ::stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

}  // namespace

bool Ledger::close_up(State why) {
  mode_ = Mode::kClosed;
  note(why);
  return false;
}

bool Ledger::attach(const char* region_path, const Limits& limits) {
  if (mode_ != Mode::kDetached) return attached();
  limits_ = limits;
  unmap_region(mapped_);  // a parent's
  const bool from_environment = limits.source == Limits::Source::kEnvironment;
  mapped_ = from_environment && missing(region_path) ? private_region(limits) : map_region(region_path);
  if (limits.source == Limits::Source::kBad) return close_up(kBadLimits);
  if (!limits.limits_anything()) note(kNoLimits);
  if (mapped_.region == nullptr) {
    if (limits.limits_anything()) return close_up(mapped_.problem);
    mode_ = Mode::kOff;
    return false;
  }
  if (!take_slot()) return close_up(kNoSlot);
  mode_ = Mode::kAttached;
  return true;
}

bool Ledger::take_slot() {
  Region& region = *mapped_.region;
  const unsigned slot = slots::take(region, mapped_.fd);
  if (slot == slots::kNone) return false;
  const HeldMutex held(mutex_);
  slot_ = slot;
  incarnation_ = region.slots[slot].incarnation.load(std::memory_order_relaxed);
  for (unsigned device = 0; device < kMaxDevices; ++device) publish(device);
  return true;
}

// Writes this process's sums of a device into its slot, with mutex_.
void Ledger::publish(unsigned device) {
  const Use& use = use_[device];
  DeviceUse& shown = mapped_.region->slots[slot_].devices[device];
  shown.total.store(use.total, std::memory_order_relaxed);
  GPUPOOL_KILL_POINT("publish.total");
  for (unsigned i = 0; i < kClasses; ++i) shown.bytes[i].store(use.bytes[i], std::memory_order_relaxed);
}

// With slow_. Takes a new slot if ours was cleared. False: somebody wrote into the region, or no slot is
// free.
bool Ledger::slot_is_ours() {
  const Region& region = *mapped_.region;
  if (damaged_.load(std::memory_order_relaxed)) return false;
  if (header_is_good(region)) {
    const Slot& slot = region.slots[slot_];
    if (slot.incarnation.load(std::memory_order_relaxed) != incarnation_) {
      note(kSlotLost);
      return take_slot();
    }
    const HeldMutex held(mutex_);
    bool same = slots::marked(region, slot_);
    for (unsigned device = 0; device < limits_.count; ++device) {
      same = same && slot.devices[device].total.load(std::memory_order_relaxed) == use_[device].total;
    }
    if (same) return true;
  }
  damaged_.store(true, std::memory_order_relaxed);
  note(kDamaged);
  return false;
}

Reservation Ledger::refuse(unsigned device, std::uint32_t why) {
  if (why != 0) note(static_cast<State>(why));
  count_refusal(device);
  return Reservation::kRefused;
}

Reservation Ledger::reserve(unsigned device, std::uint64_t bytes) {
  if (mode_ == Mode::kOff) return Reservation::kUnlimited;
  if (mode_ == Mode::kDetached || limits_.source == Limits::Source::kBad) return refuse(device);
  if (device >= limits_.count) {
    // The environment names the devices that have limits; a file names all.
    if (limits_.source != Limits::Source::kFile) return Reservation::kUnlimited;
    return refuse(device, kUnknownDevice);
  }
  if (mode_ == Mode::kClosed)
    return limits_.devices[device].limited ? refuse(device) : Reservation::kUnlimited;
  return reserve_attached(device, bytes);
}

Reservation Ledger::reserve_attached(unsigned device, std::uint64_t bytes) {
  const bool limited = limits_.devices[device].limited;
  const HeldMutex slow(slow_, kLockTimeout);
  if (!slow.held()) return limited ? refuse(device, kLockLost) : Reservation::kUnlimited;
  if (!slot_is_ours()) return limited ? refuse(device) : Reservation::kUnlimited;
  if (!limited) {
    const HeldMutex held(mutex_);
    use_[device].total = add_up(use_[device].total, bytes);
    publish(device);
    return Reservation::kUnlimited;
  }
  bool lock_lost = false;
  if (add_if_it_fits(device, bytes, lock_lost)) return Reservation::kGranted;
  if (lock_lost) return refuse(device, kLockLost);
  if (bytes <= limits_.devices[device].bytes && reap() > 0) {
    if (add_if_it_fits(device, bytes, lock_lost)) return Reservation::kGranted;
    if (lock_lost) return refuse(device, kLockLost);
  }
  return refuse(device);
}

bool Ledger::add_if_it_fits(unsigned device, std::uint64_t bytes, bool& lock_lost) {
  Region& region = *mapped_.region;
  const region_lock::Owner me{mapped_.fd, slot_, incarnation_};
  if (!region_lock::acquire(region, me, kLockTimeout)) {
    lock_lost = true;
    return false;
  }
  GPUPOOL_KILL_POINT("reserve.locked");
  const std::uint64_t limit = limits_.devices[device].bytes;
  const std::uint64_t sum = slots::sum(region, device);
  const bool fits = sum <= limit && bytes <= limit - sum;
  if (fits) {
    const HeldMutex held(mutex_);
    use_[device].total = add_up(use_[device].total, bytes);
    region.slots[slot_].devices[device].total.store(use_[device].total, std::memory_order_relaxed);
    GPUPOOL_KILL_POINT("reserve.added");
    auto& peak = region.devices[device].peak;
    if (sum + bytes > peak.load(std::memory_order_relaxed))
      peak.store(sum + bytes, std::memory_order_relaxed);
  }
  region_lock::release(region, me);
  GPUPOOL_KILL_POINT("reserve.unlocked");
  return fits;
}

unsigned Ledger::reap() {
  const unsigned count = slots::reap(*mapped_.region, mapped_.fd, slot_);
  if (count > 0) last_reap_.store(monotonic_ns(), std::memory_order_relaxed);
  return count;
}

void Ledger::commit(unsigned device, Class what, std::uint64_t reserved, std::uint64_t actual) {
  if (!known(device)) return;
  const HeldMutex held(mutex_);
  Use& use = use_[device];
  use.total = add_up(take_off(use.total, reserved), actual);
  use.bytes[index_of(what)] = add_up(use.bytes[index_of(what)], actual);
  GPUPOOL_KILL_POINT("commit");
  publish(device);
}

void Ledger::cancel(unsigned device, std::uint64_t reserved) {
  if (!known(device)) return;
  const HeldMutex held(mutex_);
  use_[device].total = take_off(use_[device].total, reserved);
  GPUPOOL_KILL_POINT("cancel");
  publish(device);
}

void Ledger::release(unsigned device, Class what, std::uint64_t bytes) {
  if (!known(device)) return;
  const HeldMutex held(mutex_);
  Use& use = use_[device];
  const std::uint64_t freed = bytes < use.bytes[index_of(what)] ? bytes : use.bytes[index_of(what)];
  use.bytes[index_of(what)] -= freed;
  use.total = take_off(use.total, freed);
  GPUPOOL_KILL_POINT("release");
  publish(device);
}

bool Ledger::settle(unsigned device, Class what, std::uint64_t total, std::uint64_t reserved) {
  if (!known(device)) return true;
  {
    const HeldMutex held(mutex_);
    Use& use = use_[device];
    std::uint64_t& bytes = use.bytes[index_of(what)];
    use.total = add_up(take_off(take_off(use.total, reserved), bytes), total);
    bytes = total;
    GPUPOOL_KILL_POINT("settle");
    publish(device);
  }
  return !limits_.devices[device].limited ||
         slots::sum(*mapped_.region, device) <= limits_.devices[device].bytes;
}

std::uint64_t Ledger::used(unsigned device) {
  if (!known(device)) return 0;
  const HeldMutex slow(slow_, kLockTimeout);
  if (slow.held() && slots::others(*mapped_.region, slot_)) reap();
  return slots::sum(*mapped_.region, device);
}

std::uint64_t Ledger::own(unsigned device) const {
  if (!known(device)) return 0;
  const HeldMutex held(mutex_);
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : use_[device].bytes) sum = add_up(sum, bytes);
  return sum;
}

std::uint64_t Ledger::own(unsigned device, Class what) const {
  if (!known(device)) return 0;
  const HeldMutex held(mutex_);
  return use_[device].bytes[index_of(what)];
}

std::uint64_t Ledger::limit(unsigned device) const {
  if (mode_ == Mode::kOff) return kNoLimit;
  if (mode_ == Mode::kDetached || limits_.source == Limits::Source::kBad) return 0;
  if (device >= limits_.count) return limits_.source == Limits::Source::kFile ? 0 : kNoLimit;
  return limits_.devices[device].limited ? limits_.devices[device].bytes : kNoLimit;
}

void Ledger::forget_after_fork() {
  // Locks of other threads of the parent are locked for ever in the child.
  ::pthread_mutex_init(&slow_, nullptr);
  ::pthread_mutex_init(&mutex_, nullptr);
  mode_ = Mode::kDetached;
  use_ = {};
  waiting_ = {};
  own_state_.store(0, std::memory_order_relaxed);
  damaged_.store(false, std::memory_order_relaxed);
  last_reap_.store(0, std::memory_order_relaxed);
}

}  // namespace gpupool::limiter
