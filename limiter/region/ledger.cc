// SPDX-License-Identifier: Apache-2.0
#include "limiter/region/ledger.h"

#include <unistd.h>

#include <cerrno>
#include <span>

#include "limiter/region/kill_point.h"
#include "limiter/region/leaving.h"
#include "limiter/region/local_lock.h"
#include "limiter/region/monotonic.h"
#include "limiter/region/record_lock.h"
#include "limiter/region/region_lock.h"
#include "limiter/region/saturating.h"
#include "limiter/region/slots.h"

namespace gpupool::limiter {
namespace {

constexpr std::uint64_t kLockTimeout = 10'000'000'000;  // nanoseconds
constexpr std::uint64_t kTidyTimeout = 50'000'000;      // where it is only for tidiness
constexpr std::uint64_t kLeavePause = 1'000'000;        // between two looks whether a process has ended

// A lost slot has been cleared a few times since. A difference beyond this is nobody's count.
constexpr std::uint64_t kMostTaken = 1'000'000;

unsigned index_of(Class what) { return static_cast<unsigned>(what) % kClasses; }

// For limits that no device plugin set.
MappedRegion private_region(const Limits& limits) {
  std::array<RegionDevice, kMaxDevices> devices{};
  for (unsigned i = 0; i < limits.count; ++i) devices[i].limit_bytes = limits.devices[i].bytes;
  return map_private_region(std::span(devices).first(limits.count));
}

bool missing(const char* path) { return ::access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR); }

}  // namespace

bool Ledger::close_up(State why) {
  mode_ = Mode::kClosed;
  note(why);
  return false;
}

bool Ledger::attach(const char* region_path, const Limits& limits) {
  if (mode_ != Mode::kDetached) return attached();
  limits_ = limits;
  path_ = region_path;
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
  // Each process that comes clears a few of those that went, so that the table does not fill up.
  const HeldLock slow(slow_);
  if (lock_region(kTidyTimeout)) {
    reap(slots::reap_some);
    unlock_region();
  }
  return true;
}

bool Ledger::take_slot() {
  Region& region = *mapped_.region;
  if (mapped_.fd >= 0 && !renew_descriptor(mapped_, path_)) return false;
  const unsigned slot = slots::take(region, mapped_.fd);
  if (slot == slots::kNone) return false;
  const HeldLock held(mutex_);
  slot_ = slot;
  incarnation_ = region.slots[slot].incarnation.load(std::memory_order_relaxed);
  for (unsigned device = 0; device < kMaxDevices; ++device) publish(device);
  return true;
}

// Writes this process's sums of a device into its slot, with mutex_.
void Ledger::publish(unsigned device) {
  const Use& use = use_[device];
  Slot& slot = mapped_.region->slots[slot_];
  // It may be another process's by now; see the class.
  if (slot.incarnation.load(std::memory_order_relaxed) != incarnation_) return;
  DeviceUse& shown = slot.devices[device];
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
    const std::uint64_t taken = slot.incarnation.load(std::memory_order_relaxed) - incarnation_;
    if (taken != 0 && taken < kMostTaken) {
      note(kSlotLost);
      return take_slot();
    }
    const HeldLock held(mutex_);
    bool same = taken == 0 && slots::marked(region, slot_);
    for (unsigned device = 0; device < limits_.count; ++device) {
      same = same && slot.devices[device].total.load(std::memory_order_relaxed) == use_[device].total;
    }
    if (same) return true;
  }
  damaged_.store(true, std::memory_order_relaxed);
  note(kDamaged);
  return false;
}

Reservation Ledger::refuse(std::uint32_t why) {
  if (why != 0) note(static_cast<State>(why));
  return Reservation::kRefused;
}

Reservation Ledger::reserve(unsigned device, std::uint64_t bytes) {
  const Reservation result = try_reserve(device, bytes);
  if (result == Reservation::kRefused) count_refusal(device);
  return result;
}

Reservation Ledger::try_reserve(unsigned device, std::uint64_t bytes) {
  if (mode_ == Mode::kOff) return Reservation::kUnlimited;
  if (mode_ == Mode::kDetached || limits_.source == Limits::Source::kBad) return refuse();
  if (device >= limits_.count) {
    // The environment names the devices that have limits; a file names all.
    if (limits_.source != Limits::Source::kFile) return Reservation::kUnlimited;
    return refuse(kUnknownDevice);
  }
  if (mode_ == Mode::kClosed) return limits_.devices[device].limited ? refuse() : Reservation::kUnlimited;
  return reserve_attached(device, bytes);
}

Reservation Ledger::reserve_attached(unsigned device, std::uint64_t bytes) {
  bool others_leave = false;
  Reservation result = reserve_once(device, bytes, others_leave);
  const std::uint64_t begin = others_leave ? monotonic_ns() : 0;
  while (result == Reservation::kRefused && others_leave && monotonic_ns() - begin < kDriverFreesWithin) {
    sleep_ns(kLeavePause);
    result = reserve_once(device, bytes, others_leave);
  }
  return result;
}

// `others_leave`: whether it did not fit at first and processes that end still hold bytes.
Reservation Ledger::reserve_once(unsigned device, std::uint64_t bytes, bool& others_leave) {
  others_leave = false;
  const bool limited = limits_.devices[device].limited;
  const HeldLock slow(slow_, kLockTimeout);
  if (!slow.held()) return limited ? refuse(kLockLost) : Reservation::kUnlimited;
  if (!slot_is_ours()) return limited ? refuse() : Reservation::kUnlimited;
  if (!limited) {
    const HeldLock held(mutex_);
    use_[device].total = add_up(use_[device].total, bytes);
    publish(device);
    return Reservation::kUnlimited;
  }
  if (!lock_region(kLockTimeout)) return refuse(kLockLost);
  const bool granted = add_if_it_fits(device, bytes, others_leave);
  unlock_region();
  GPUPOOL_KILL_POINT("reserve.unlocked");
  return granted ? Reservation::kGranted : refuse();
}

bool Ledger::lock_region(std::uint64_t timeout_ns) {
  return region_lock::acquire({mapped_, slot_, incarnation_}, timeout_ns);
}

void Ledger::unlock_region() { region_lock::release({mapped_, slot_, incarnation_}); }

bool Ledger::has_room(unsigned device, std::uint64_t bytes, std::uint64_t& sum) const {
  const std::uint64_t limit = limits_.devices[device].bytes;
  sum = slots::sum(*mapped_.region, device);
  return sum <= limit && bytes <= limit - sum;
}

// With the region's lock.
bool Ledger::add_if_it_fits(unsigned device, std::uint64_t bytes, bool& others_leave) {
  GPUPOOL_KILL_POINT("reserve.locked");
  if (bytes > limits_.devices[device].bytes) return false;
  std::uint64_t sum = 0;
  if (!has_room(device, bytes, sum)) {
    others_leave = reap(slots::reap);
    if (!has_room(device, bytes, sum)) return false;
  }
  GPUPOOL_KILL_POINT("reserve.summed");
  Region& region = *mapped_.region;
  const HeldLock held(mutex_);
  use_[device].total = add_up(use_[device].total, bytes);
  region.slots[slot_].devices[device].total.store(use_[device].total, std::memory_order_relaxed);
  GPUPOOL_KILL_POINT("reserve.added");
  auto& peak = region.devices[device].peak;
  if (sum + bytes > peak.load(std::memory_order_relaxed)) peak.store(sum + bytes, std::memory_order_relaxed);
  return true;
}

// With slow_. Whether the descriptor is the region's file; on another file all locks are to be had. A lost
// one is opened again, and the slot's lock taken again unless another process has it by now.
bool Ledger::keep_descriptor() {
  if (mapped_.fd < 0) return false;
  if (descriptor_is_good(mapped_)) return true;
  return renew_descriptor(mapped_, path_) && record_lock::try_take(mapped_.fd, kSlotLockBase + slot_);
}

// With slow_ and the region's lock. Whether there are processes that still end.
bool Ledger::reap(slots::Reaped (*how)(Region&, int, unsigned)) {
  if (!keep_descriptor()) return false;
  const slots::Reaped reaped = how(*mapped_.region, mapped_.fd, slot_);
  if (reaped.cleared > 0) last_reap_.store(monotonic_ns(), std::memory_order_relaxed);
  return reaped.leaving > 0;
}

void Ledger::commit(unsigned device, Class what, std::uint64_t reserved, std::uint64_t actual) {
  if (!known(device)) return;
  const HeldLock held(mutex_);
  Use& use = use_[device];
  use.total = add_up(take_off(use.total, reserved), actual);
  use.bytes[index_of(what)] = add_up(use.bytes[index_of(what)], actual);
  GPUPOOL_KILL_POINT("commit");
  publish(device);
}

void Ledger::cancel(unsigned device, std::uint64_t reserved) {
  if (!known(device)) return;
  const HeldLock held(mutex_);
  use_[device].total = take_off(use_[device].total, reserved);
  GPUPOOL_KILL_POINT("cancel");
  publish(device);
}

void Ledger::release(unsigned device, Class what, std::uint64_t bytes) {
  if (!known(device)) return;
  const HeldLock held(mutex_);
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
    const HeldLock held(mutex_);
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
  const HeldLock slow(slow_, kTidyTimeout);
  if (slow.held() && slots::others(*mapped_.region, slot_) && lock_region(kTidyTimeout)) {
    reap(slots::reap);
    unlock_region();
  }
  return slots::sum(*mapped_.region, device);
}

std::uint64_t Ledger::own(unsigned device) const {
  if (!known(device)) return 0;
  const HeldLock held(mutex_);
  std::uint64_t sum = 0;
  for (const std::uint64_t bytes : use_[device].bytes) sum = add_up(sum, bytes);
  return sum;
}

std::uint64_t Ledger::own(unsigned device, Class what) const {
  if (!known(device)) return 0;
  const HeldLock held(mutex_);
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
  slow_.make_free();
  mutex_.make_free();
  mode_ = Mode::kDetached;
  use_ = {};
  waiting_ = {};
  own_state_.store(0, std::memory_order_relaxed);
  damaged_.store(false, std::memory_order_relaxed);
  last_reap_.store(0, std::memory_order_relaxed);
}

}  // namespace gpupool::limiter
