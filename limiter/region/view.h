// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "limiter/region/layout.h"
#include "limiter/region/record_lock.h"
#include "limiter/region/saturating.h"

// Reads a copy of a region, as the device plugin does. Read the file with pread() and do not map it: the
// container may truncate it. Programs of the container can write anything into it, so all that comes out of
// here is a claim: sums saturate, texts are printable and end, and nothing is an index. Header only; all
// functions are pure but those with `fd`.
namespace gpupool::limiter::view {

struct DeviceView {
  std::array<char, 64> uuid;                    // ends with a zero
  std::uint64_t limit;                          // bytes; 0: no limit
  std::uint64_t used;                           // bytes of all counted slots, reserved ones included
  std::array<std::uint64_t, kClasses> classes;  // of these, by Class
  std::uint64_t pending;                        // of these, reserved for driver calls that have not returned
  std::uint64_t refusals;
  std::uint64_t peak;
  std::uint64_t wait_ticket;
  std::uint64_t waiting_bytes;  // 0: nobody waits; believe it only while wait_alive()
  std::uint64_t waiting_since;  // CLOCK_MONOTONIC, nanoseconds
  std::uint64_t waits;
  std::uint64_t refused_ticket;
};

struct RegionView {
  std::uint32_t state;  // bits of State
  std::uint64_t launches_gated;
  std::uint64_t unknown_calls;
  std::array<std::array<char, kNameBytes>, kMaxUnknownNames>
      unknown_names;                            // each ends with a zero; the first empty one ends them
  std::array<DeviceView, kMaxDevices> devices;  // an empty UUID ends them
  unsigned device_count;
  unsigned slot_count;  // slots that were counted
};

struct SlotView {
  std::int32_t pid;  // in the container's PID namespace, as the process said it
  std::uint64_t incarnation;
  std::array<std::uint64_t, kMaxDevices> used;  // bytes
};

namespace internal {

template <typename Number>
Number load(std::span<const std::byte> bytes, std::size_t offset) {
  Number number{};
  if (offset <= bytes.size() && sizeof(number) <= bytes.size() - offset) {
    std::memcpy(&number, bytes.data() + offset, sizeof(number));
  }
  return number;
}

inline std::uint64_t load64(std::span<const std::byte> bytes, std::size_t offset) {
  return load<std::uint64_t>(bytes, offset);
}

template <std::size_t Size>
void load_text(std::span<const std::byte> bytes, std::size_t offset, std::array<char, Size>& text) {
  text = {};
  for (std::size_t i = 0; i + 1 < Size; ++i) {
    const char c = load<char>(bytes, offset + i);
    if (c == '\0') return;
    text[i] = c > ' ' && c < '\x7f' ? c : '?';
  }
}

constexpr std::size_t slot_offset(unsigned slot) { return kRegionHead + slot * sizeof(Slot); }

constexpr std::size_t use_offset(unsigned slot, unsigned device) {
  return slot_offset(slot) + offsetof(Slot, devices) + device * sizeof(DeviceUse);
}

inline DeviceView load_record(std::span<const std::byte> bytes, unsigned device) {
  const std::size_t at = offsetof(Region, devices) + device * sizeof(DeviceRecord);
  DeviceView view{};
  load_text(bytes, at + offsetof(DeviceRecord, uuid), view.uuid);
  view.limit = load64(bytes, at + offsetof(DeviceRecord, limit));
  view.refusals = load64(bytes, at + offsetof(DeviceRecord, refusals));
  view.peak = load64(bytes, at + offsetof(DeviceRecord, peak));
  view.wait_ticket = load64(bytes, at + offsetof(DeviceRecord, wait_ticket));
  view.waiting_bytes = load64(bytes, at + offsetof(DeviceRecord, waiting_bytes));
  view.waiting_since = load64(bytes, at + offsetof(DeviceRecord, waiting_since));
  view.waits = load64(bytes, at + offsetof(DeviceRecord, waits));
  view.refused_ticket = load64(bytes, at + offsetof(DeviceRecord, refused_ticket));
  return view;
}

inline void add_slot(std::span<const std::byte> bytes, unsigned slot, RegionView& view) {
  for (unsigned device = 0; device < view.device_count; ++device) {
    const std::size_t at = use_offset(slot, device);
    DeviceView& sums = view.devices[device];
    const std::uint64_t total = load64(bytes, at + offsetof(DeviceUse, total));
    std::uint64_t left = total;
    for (unsigned i = 0; i < kClasses; ++i) {
      // The parts are never more than the whole.
      const std::uint64_t claimed =
          load64(bytes, at + offsetof(DeviceUse, bytes) + i * sizeof(std::uint64_t));
      const std::uint64_t part = claimed < left ? claimed : left;
      sums.classes[i] = add_up(sums.classes[i], part);
      left -= part;
    }
    sums.pending = add_up(sums.pending, left);
    sums.used = add_up(sums.used, total);
  }
  ++view.slot_count;
}

template <typename Visit>
void for_each_used_slot(std::span<const std::byte> bytes, Visit visit) {
  for (unsigned word = 0; word < kSlotWords; ++word) {
    std::uint64_t bits = load64(bytes, offsetof(Region, used_slots) + word * sizeof(std::uint64_t));
    for (; bits != 0; bits &= bits - 1) {
      const unsigned slot = word * 64 + static_cast<unsigned>(std::countr_zero(bits));
      if (slot_offset(slot) + sizeof(Slot) <= bytes.size()) visit(slot);
    }
  }
}

}  // namespace internal

// What the first bytes of a file say.
enum class Kind { kRegion, kOtherLayout, kNoRegion };

inline Kind kind(std::span<const std::byte> bytes) {
  using internal::load;
  if (bytes.size() < kRegionHead || load<std::uint64_t>(bytes, offsetof(Region, magic)) != kRegionMagic) {
    return Kind::kNoRegion;
  }
  const bool ours = load<std::uint32_t>(bytes, offsetof(Region, layout)) == kRegionLayout &&
                    load<std::uint32_t>(bytes, offsetof(Region, size)) == sizeof(Region);
  return ours ? Kind::kRegion : Kind::kOtherLayout;
}

// Whether a living process has the slot. `fd` is the region's file, open for reading; the caller takes no
// record locks on it.
inline bool slot_alive(int fd, unsigned slot) {
  return slot < kMaxSlots && record_lock::held(fd, kSlotLockBase + slot);
}

// Whether a living process waits for memory of the device.
inline bool wait_alive(int fd, unsigned device) {
  return device < kMaxDevices && record_lock::held(fd, kWaitLockBase + device);
}

// `bytes` begin with the region's first; kRegionHead of them are enough for all but the sums of slots.
// `counted(slot)` says which slots are added up. nullopt: kind() is not kRegion.
template <typename Counted>
std::optional<RegionView> read(std::span<const std::byte> bytes, Counted counted) {
  using namespace internal;
  if (kind(bytes) != Kind::kRegion) return std::nullopt;
  RegionView view{};
  view.state = load<std::uint32_t>(bytes, offsetof(Region, state));
  view.launches_gated = load64(bytes, offsetof(Region, launches_gated));
  view.unknown_calls = load64(bytes, offsetof(Region, unknown_calls));
  for (unsigned i = 0; i < kMaxUnknownNames; ++i) {
    load_text(bytes, offsetof(Region, unknown_names) + std::size_t{i} * kNameBytes, view.unknown_names[i]);
    if (view.unknown_names[i][0] == '\0') break;
  }
  while (view.device_count < kMaxDevices) {
    view.devices[view.device_count] = load_record(bytes, view.device_count);
    if (view.devices[view.device_count].uuid[0] == '\0') break;
    ++view.device_count;
  }
  for_each_used_slot(bytes, [&](unsigned slot) {
    if (counted(slot)) add_slot(bytes, slot, view);
  });
  return view;
}

// With all slots, dead processes' included.
inline std::optional<RegionView> read(std::span<const std::byte> bytes) {
  return read(bytes, [](unsigned) { return true; });
}

// With the slots of living processes.
inline std::optional<RegionView> read_living(std::span<const std::byte> bytes, int fd) {
  return read(bytes, [fd](unsigned slot) { return slot_alive(fd, slot); });
}

// One process's part; nullopt: no such slot in these bytes, or it is not used.
inline std::optional<SlotView> read_slot(std::span<const std::byte> bytes, unsigned slot) {
  using namespace internal;
  if (kind(bytes) != Kind::kRegion || slot >= kMaxSlots || slot_offset(slot) + sizeof(Slot) > bytes.size()) {
    return std::nullopt;
  }
  const std::uint64_t word = load64(bytes, offsetof(Region, used_slots) + slot / 64 * sizeof(std::uint64_t));
  if ((word >> (slot % 64) & 1U) == 0) return std::nullopt;
  SlotView view{};
  view.pid = load<std::int32_t>(bytes, slot_offset(slot) + offsetof(Slot, pid));
  view.incarnation = load64(bytes, slot_offset(slot) + offsetof(Slot, incarnation));
  for (unsigned device = 0; device < kMaxDevices; ++device) {
    view.used[device] = load64(bytes, use_offset(slot, device) + offsetof(DeviceUse, total));
  }
  return view;
}

// The plugin's refusal of a wait is 8 bytes, the ticket, written at this offset of the file.
constexpr std::size_t refused_ticket_offset(unsigned device) {
  return offsetof(Region, devices) + (device % kMaxDevices) * sizeof(DeviceRecord) +
         offsetof(DeviceRecord, refused_ticket);
}

}  // namespace gpupool::limiter::view
