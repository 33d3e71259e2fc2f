// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gpupool::limiter {

// A region is a file of sizeof(Region) bytes on tmpfs: what the processes of one container use of their GPUs.
// The device plugin makes one for each container with limits; the limiter maps it. Programs of the container
// can write anything into it, so every reader clamps what it reads and uses nothing in it as an index. The
// limits are not in it: they are in the limits file, which the container cannot write.
//
// What the container uses is the sum of its slots. A slot has one writer, the process that holds the record
// lock on byte kSlotLockBase + index of the file; the kernel gives the lock back when the process ends.

inline constexpr std::uint64_t kRegionMagic = 0x6e6f696765727067;  // "gpregion"
// Grows when a reader of the present layout would misread. A limiter refuses any other. The first four fields
// of Region are the same in all layouts, so that it can say so in `state`.
inline constexpr std::uint32_t kRegionLayout = 1;

inline constexpr unsigned kMaxDevices = 16;
inline constexpr unsigned kMaxSlots = 1024;
inline constexpr std::int64_t kSlotLockBase = 1LL << 40;  // far behind the end of the file
// The process that waits for memory of device i holds the record lock on this byte + i.
inline constexpr std::int64_t kWaitLockBase = kSlotLockBase + kMaxSlots;

// What bytes are charged for.
enum class Class : std::uint32_t {
  kMemory,    // cuMemAlloc and its kind, pitched memory
  kManaged,   // managed memory, in full
  kArray,     // arrays and mipmapped arrays
  kPhysical,  // cuMemCreate
  kPool,      // what pools have reserved
  kGraph,     // what graphs have reserved
  kContext,   // contexts, code and stacks
};
inline constexpr unsigned kClasses = 7;

// Why a region is not, or not fully, enforced; bits of Region::state. 0 and attached processes: enforced.
enum State : std::uint32_t {
  kNoLimits = 1U << 0U,       // no limits file, or one without limits
  kBadLimits = 1U << 1U,      // a limits file that cannot be parsed: every allocation is refused
  kNoSlot = 1U << 2U,         // more processes than slots: every allocation of the later ones is refused
  kLockLost = 1U << 3U,       // the lock was not to be had in time: that allocation was refused
  kUnknownDevice = 1U << 4U,  // a device that the limits file does not name was used: refused
  kUnmeasured = 1U << 5U,     // NVML does not say what a process uses: contexts are charged by estimate
  kUnknownNames = 1U << 6U,   // the program asked for driver functions that this limiter does not know
  kNoRegion = 1U << 7U,       // the region is missing or cannot be written: every allocation is refused
  kWrongRegion = 1U << 8U,    // the region is of another layout, or none: every allocation is refused
  kDamaged = 1U << 9U,        // somebody else wrote into the region: every allocation is refused
  kSlotLost = 1U << 10U,  // the program closed the region's file, and another process took its slot for dead
};

// The bytes of one process on one device. A reservation adds to `total` alone; when the driver call has gone
// well they are also counted in a class. So `total` less all classes is what is reserved for driver calls
// that have not returned, and one store changes the sum that limits are compared with.
struct alignas(64) DeviceUse {
  std::atomic<std::uint64_t> total;
  std::atomic<std::uint64_t> bytes[kClasses];
};

struct alignas(64) Slot {
  std::atomic<std::uint64_t> incarnation;  // grows whenever the slot is taken or cleared
  std::atomic<std::int32_t> pid;           // in the container's PID namespace; see leaving.h. 0: free
  std::atomic<std::uint32_t> spare;
  DeviceUse devices[kMaxDevices];
};

// Counters and identity of one device of the container. Its position is that in the limits file.
struct DeviceRecord {
  char uuid[64];                        // as NVML prints it, padded with zeros
  std::atomic<std::uint64_t> limit;     // bytes, for readers; never believed by the limiter. 0: no limit
  std::atomic<std::uint64_t> refusals;  // allocations refused since the region was made
  std::atomic<std::uint64_t> peak;      // highest sum of bytes that a reservation has seen
  // Wait mode. A process that waits for memory counts `wait_ticket` up and sets the other two; it sets
  // `waiting_bytes` to 0 when it stops. One process of a container waits at a time for a device: the one that
  // holds the record lock on byte kWaitLockBase + device.
  std::atomic<std::uint64_t> wait_ticket;
  std::atomic<std::uint64_t> waiting_bytes;
  std::atomic<std::uint64_t>
      waiting_since;  // CLOCK_MONOTONIC, nanoseconds: the same clock in all containers of a node
  std::atomic<std::uint64_t> waits;  // finished waits
  // Written by the plugin alone: the wait of this ticket gets out-of-memory at once.
  std::atomic<std::uint64_t> refused_ticket;
};

inline constexpr unsigned kMaxUnknownNames = 16;
inline constexpr unsigned kNameBytes = 48;
inline constexpr unsigned kSlotWords = kMaxSlots / 64;

struct Region {
  std::uint64_t magic;
  std::uint32_t layout;
  std::uint32_t size;  // sizeof(Region)
  std::atomic<std::uint32_t> state;
  std::atomic<std::uint32_t> reap_hint;              // where the next look for dead slots begins
  std::atomic<std::uint64_t> launches_gated;         // left for the share of cores
  std::atomic<std::uint64_t> unknown_calls;          // requests for names that the limiter does not know
  char unknown_names[kMaxUnknownNames][kNameBytes];  // the first of them, padded with zeros
  DeviceRecord devices[kMaxDevices];
  // Reservations take turns; see region_lock.h. Never held during a driver call.
  alignas(64) std::atomic<std::uint32_t> lock;
  // Bit i: slot i may hold bytes. Set by the process that takes the slot, cleared by the one that reaps it;
  // both hold the slot's record lock.
  alignas(64) std::atomic<std::uint64_t> used_slots[kSlotWords];
  Slot slots[kMaxSlots];
};

// A reader that needs no slots reads so many bytes.
inline constexpr std::size_t kRegionHead = offsetof(Region, slots);

static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(DeviceUse) == 64 && offsetof(Region, state) == 16);

}  // namespace gpupool::limiter
