// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpupool::enforcement {

// What a container holds of one GPU, and how much more it waits for.
struct HeldDevice {
  std::string gpu;                   // UUID
  std::uint64_t held_bytes = 0;      // without what is only reserved
  std::uint64_t waiting_bytes = 0;   // 0: it does not wait
  std::uint64_t waiting_since = 0;   // nanoseconds of one clock
  std::uint64_t ticket = 0;          // of the present wait
  std::uint64_t refused_ticket = 0;  // the wait that was refused last
  bool operator==(const HeldDevice&) const = default;
};

struct Holder {
  std::string region;  // the name of the container's region file
  std::vector<HeldDevice> devices;
  bool operator==(const Holder&) const = default;
};

// A wait that must end with out-of-memory.
struct Refusal {
  std::string region;
  std::size_t device = 0;  // position in Holder::devices
  std::uint64_t ticket = 0;
  bool operator==(const Refusal&) const = default;
};

// The test of a banker for the containers of a node, over all GPUs at once. Whoever does not wait is taken to
// give back all that it holds some day; a waiter does so if its request can be met by then. If some waiters
// can never be met, the one that began to wait last is refused; the memory that it then gives back, or uses
// no longer, lets the others go on. A wait that was refused before counts as ended. free_bytes: by GPU, as
// the driver says; 0 for a GPU that is not in it. Pure.
std::optional<Refusal> refuse_deadlocked(const std::vector<Holder>& holders,
                                         const std::map<std::string, std::uint64_t>& free_bytes);

}  // namespace gpupool::enforcement
