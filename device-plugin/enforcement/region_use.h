// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace gpupool::enforcement {

// The names of what bytes are charged for, in the order of limiter::Class.
inline constexpr std::array<const char*, 7> kClassNames = {"memory", "managed", "array",  "physical",
                                                           "pool",   "graph",   "context"};

// What a container uses of one device, by its own word.
struct RegionDeviceUse {
  std::array<std::uint64_t, kClassNames.size()> bytes{};
  std::uint64_t pending_bytes = 0;  // reserved for calls that have not returned
  std::uint64_t refusals = 0;
  std::uint64_t peak_bytes = 0;
  std::uint64_t waits = 0;
  std::uint64_t waiting_bytes = 0;  // 0: nothing waits
  std::uint64_t waiting_since = 0;  // CLOCK_MONOTONIC, nanoseconds
  std::uint64_t wait_ticket = 0;
  std::uint64_t refused_ticket = 0;
  // Both are the largest number if they do not fit.
  std::uint64_t used_bytes() const;     // of all classes
  std::uint64_t counted_bytes() const;  // with what is reserved
  bool operator==(const RegionDeviceUse&) const = default;
};

// A container's region as read at one moment. All of it may be forged by the container, and harms nobody else
// then.
struct RegionUse {
  std::vector<RegionDeviceUse> devices;  // in the order of the limits file
  std::vector<std::string> reasons;  // why it is not, or not fully, enforced: "NoSlot"; none: it is enforced
  std::uint64_t processes = 0;       // that use the region now
  std::uint64_t unknown_calls = 0;   // requests for functions of the driver that the limiter does not know
  std::vector<std::string> unknown_names;  // the first of them; printable, without spaces
  bool operator==(const RegionUse&) const = default;
};

// Reads a region file without mapping it: a container may cut it short at any time. It may also put so many
// locks on its file that each question takes long: after `patience` no more are asked. kNotFound: there is
// none; kParse: it is no region, or one of another version of the limiter; kTimeout; kIo.
base::Result<RegionUse> read_region(const std::string& path,
                                    base::Duration patience = std::chrono::milliseconds(250));

// Whether a process of this container says that it waits for memory: cheaper than read_region().
bool anybody_waits(const std::string& path);

// Tells the limiter that the wait with this ticket gets out-of-memory. device: its position in the region.
// kIo.
base::Result<void> refuse_wait(const std::string& path, std::size_t device, std::uint64_t ticket);

}  // namespace gpupool::enforcement
