// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "limiter/limits/limits.h"
#include "limiter/region/layout.h"
#include "limiter/region/local_lock.h"
#include "limiter/region/region_file.h"
#include "limiter/region/slots.h"

namespace gpupool::limiter {

enum class Reservation : std::uint8_t {
  kGranted,    // the bytes are reserved
  kRefused,    // over the limit, or what the limit is or what is used cannot be known; nothing is reserved
  kUnlimited,  // the device has no limit; the bytes are counted all the same
};

// What this process uses of its devices, as its slot of the container's region says it. A caller reserves
// before a driver call, and afterwards commits or cancels, both after kGranted and after kUnlimited; it
// releases after the driver has freed. The region's lock is held inside reserve() alone.
//
// Devices are positions in the limits file. One ledger per process: record locks do not tell two apart.
// Thread-safe, except attach() and forget_after_fork(), which need that nobody else uses the ledger. Constant
// initialization; no heap, no thread, no exception.
//
// The process's own sums are kept here too and the slot is written from them. If a program closes all
// descriptors, the slot's record lock is lost and another process may clear the slot: the next reservation
// takes a new one and writes the sums again.
class Ledger {
 public:
  constexpr Ledger() = default;
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // Takes a slot of the region. False: reservations are refused (fail closed) or, without any limits, all
  // unlimited; state() says why. Limits of the environment without a region file are this process's alone.
  // Calls after the first change nothing until forget_after_fork().
  bool attach(const char* region_path, const Limits& limits);
  bool attached() const { return mode_ == Mode::kAttached; }

  // Reserves before a driver call. A refusal is counted in the region. If the bytes do not fit, dead
  // processes' slots are cleared and the sum is made again. Waits up to 2 s for processes that have not quite
  // ended, and up to 10 s for a stopped process that has the lock, then refuses.
  Reservation reserve(unsigned device, std::uint64_t bytes);
  // The same without counting a refusal: the caller has another way.
  Reservation try_reserve(unsigned device, std::uint64_t bytes);
  // The driver call went well: `actual` bytes, more or less than `reserved`, are used.
  void commit(unsigned device, Class what, std::uint64_t reserved, std::uint64_t actual);
  // The driver call failed.
  void cancel(unsigned device, std::uint64_t reserved);
  // After the driver freed `bytes` of a class. More than there are: all.
  void release(unsigned device, Class what, std::uint64_t bytes);
  // This process's sum of a class becomes `total`, and `reserved` bytes are no longer reserved, in one step:
  // pools, graphs, contexts, whose sizes are read after the driver call. False: the container is now above
  // its limit.
  bool settle(unsigned device, Class what, std::uint64_t total, std::uint64_t reserved = 0);

  // Bytes that the container uses, reserved ones and other processes' included, dead ones' not. Saturates.
  std::uint64_t used(unsigned device);
  // Of this process alone: all classes without reservations, or one class.
  std::uint64_t own(unsigned device) const;
  std::uint64_t own(unsigned device, Class what) const;
  // In bytes; kNoLimit if it has none. 0 where every reservation is refused.
  static constexpr std::uint64_t kNoLimit = ~std::uint64_t{0};
  std::uint64_t limit(unsigned device) const;

  const Limits& limits() const { return limits_; }

  // In the child of a fork, before anything else: it has no slot and uses nothing. The next attach() takes a
  // slot.
  void forget_after_fork();

  // Sets bits in the region's state and in this process's.
  void note(State state);
  // The region's state and this process's.
  std::uint32_t state() const;
  // A refusal that reserve() did not count.
  void count_refusal(unsigned device);
  // The program asked for a function that the limiter does not know. At most 47 bytes of the name are kept.
  void unknown_name(const char* name);
  void count_gated_launch();

  // When slots of dead processes were last cleared by this process, CLOCK_MONOTONIC in ns, 0: never. The
  // driver may free a dead process's memory a moment after its slot was free: an out-of-memory soon after
  // this is worth another try.
  std::uint64_t last_reap_ns() const { return last_reap_.load(std::memory_order_relaxed); }

  // Wait mode. Says that this process waits for memory of the device. 0: another thread or process of the
  // container waits already, or there is no region. Otherwise a ticket for the other two.
  std::uint64_t begin_wait(unsigned device, std::uint64_t bytes);
  // The plugin says that this wait gets out-of-memory.
  bool wait_refused(unsigned device, std::uint64_t ticket) const;
  void end_wait(unsigned device, std::uint64_t ticket);

 private:
  enum class Mode : std::uint8_t { kDetached, kOff, kClosed, kAttached };
  struct Use {
    std::uint64_t total;
    std::array<std::uint64_t, kClasses> bytes;
  };

  bool close_up(State why);
  bool take_slot();
  bool slot_is_ours();
  bool keep_descriptor();
  Reservation refuse(std::uint32_t why = 0);
  Reservation reserve_attached(unsigned device, std::uint64_t bytes);
  Reservation reserve_once(unsigned device, std::uint64_t bytes, bool& others_leave);
  bool add_if_it_fits(unsigned device, std::uint64_t bytes, bool& others_leave);
  bool has_room(unsigned device, std::uint64_t bytes, std::uint64_t& sum) const;
  bool lock_region(std::uint64_t timeout_ns);
  void unlock_region();
  bool reap(slots::Reaped (*how)(Region&, int, unsigned));
  void publish(unsigned device);
  bool known(unsigned device) const { return mode_ == Mode::kAttached && device < limits_.count; }

  Limits limits_{};
  MappedRegion mapped_{};
  const char* path_ = nullptr;
  Mode mode_ = Mode::kDetached;
  unsigned slot_ = 0;
  std::uint64_t incarnation_ = 0;
  std::atomic<std::uint32_t> own_state_{0};
  std::atomic<bool> damaged_{false};
  std::atomic<std::uint64_t> last_reap_{0};
  // What changes slots and takes the region's lock; before mutex_.
  mutable LocalLock slow_;
  // use_ and what is written into the slot from it; never held while waiting.
  mutable LocalLock mutex_;
  std::array<Use, kMaxDevices> use_{};
  std::array<std::uint64_t, kMaxDevices> waiting_{};  // tickets of this process's waits
};

}  // namespace gpupool::limiter
