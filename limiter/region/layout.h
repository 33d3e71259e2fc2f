// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gpupool::limiter {

// A region is a file of sizeof(Region) bytes on tmpfs: what the processes of one container use of their GPUs. The device
// plugin makes one for each container with limits; the limiter maps it. Programs of the container can write anything into
// it, so every reader clamps what it reads and uses nothing in it as an index. The limits are not in it: they are in
// the limits file, which the container cannot write.
//
// What the container uses is the sum of its slots. A slot has one writer, the process that holds the record lock on byte
// kSlotLockBase + index of the file; the kernel gives the lock back when the process ends.

inline constexpr std::uint64_t kRegionMagic = 0x6e6f696765727067;  // "gpregion"
// Grows when a reader of the present layout would misread. A limiter refuses any other.
inline constexpr std::uint32_t kRegionLayout = 1;

inline constexpr unsigned kMaxDevices = 16;
inline constexpr unsigned kMaxSlots = 1024;
inline constexpr std::int64_t kSlotLockBase = 1LL << 40;  // far behind the end of the file

// What bytes are charged for.
enum class Class : std::uint32_t {
  kMemory,   // cuMemAlloc and its kind, pitched memory
  kManaged,  // managed memory, in full
  kArray,    // arrays and mipmapped arrays
  kPhysical, // cuMemCreate
  kPool,     // what pools have reserved
  kGraph,    // what graphs have reserved
  kContext,  // contexts, code and stacks
};
inline constexpr unsigned kClasses = 7;

// Why a region is not, or not fully, enforced; bits of Region::state. 0 and attached processes: enforced.
enum State : std::uint32_t {
  kNoLimits = 1U << 0U,        // no limits file, or one without limits
  kBadLimits = 1U << 1U,       // a limits file that cannot be parsed: every allocation is refused
  kNoSlot = 1U << 2U,          // more processes than slots: every allocation of the later ones is refused
  kLockLost = 1U << 3U,        // the lock was not to be had in time: that allocation was refused
  kUnknownDevice = 1U << 4U,   // a device that the limits file does not name was used
  kUnmeasured = 1U << 5U,      // NVML does not say what a process uses: contexts are charged by estimate
  kUnknownNames = 1U << 6U,    // the program asked for driver functions that this limiter does not know
};

struct DeviceUse {
  std::atomic<std::uint64_t> bytes[kClasses];
  std::atomic<std::uint64_t> pending;  // reserved for a driver call that has not returned
};

struct Slot {
  std::atomic<std::uint64_t> incarnation;  // grows with each process that takes the slot
  std::atomic<std::int32_t> pid;           // in the container's PID namespace; for people only. 0: free
  std::atomic<std::uint32_t> reserved;
  DeviceUse devices[kMaxDevices];
};

// Counters and identity of one device of the container. Its position is that in the limits file.
struct DeviceRecord {
  char uuid[64];                          // as NVML prints it, padded with zeros
  std::atomic<std::uint64_t> limit;       // bytes, for readers; never believed by the limiter. 0: no limit
  std::atomic<std::uint64_t> refusals;    // allocations refused since the region was made
  std::atomic<std::uint64_t> peak;        // highest sum of bytes that a reservation has seen
  // Wait mode. A process that waits for memory counts `wait_ticket` up and sets the other two; it sets `waiting_bytes`
  // to 0 when it stops. One process of a container waits at a time for a device.
  std::atomic<std::uint64_t> wait_ticket;
  std::atomic<std::uint64_t> waiting_bytes;
  std::atomic<std::uint64_t> waiting_since;  // CLOCK_MONOTONIC, nanoseconds: the same clock in all containers of a node
  std::atomic<std::uint64_t> waits;          // finished waits
  // Written by the plugin alone: the wait of this ticket gets out-of-memory at once.
  std::atomic<std::uint64_t> refused_ticket;
};

inline constexpr unsigned kMaxUnknownNames = 16;

struct Region {
  std::uint64_t magic;
  std::uint32_t layout;
  std::uint32_t size;  // sizeof(Region)
  std::atomic<std::uint32_t> state;
  std::atomic<std::uint32_t> high_slot;  // slots at and above this were never used
  std::atomic<std::uint64_t> launches_gated;  // left for the share of cores
  std::atomic<std::uint64_t> unknown_calls;   // requests for names that the limiter does not know
  char unknown_names[kMaxUnknownNames][48];   // the first of them, padded with zeros
  pthread_mutex_t lock;                       // robust and shared between processes; never held during a driver call
  DeviceRecord devices[kMaxDevices];
  Slot slots[kMaxSlots];
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

}  // namespace gpupool::limiter
