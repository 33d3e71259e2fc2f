// SPDX-License-Identifier: Apache-2.0
#include "enforcement/wait_arbiter.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace gpupool::enforcement {
namespace {

bool waits(const HeldDevice& device) {
  return device.waiting_bytes > 0 && device.ticket != device.refused_ticket;
}

// Containers can write any number into their regions.
std::uint64_t saturated_sum(std::uint64_t one, std::uint64_t other) {
  return other > std::numeric_limits<std::uint64_t>::max() - one ? std::numeric_limits<std::uint64_t>::max()
                                                                 : one + other;
}

bool can_be_met(const Holder& holder, const std::map<std::string, std::uint64_t>& available) {
  return std::all_of(holder.devices.begin(), holder.devices.end(), [&](const HeldDevice& device) {
    if (!waits(device)) return true;
    const auto found = available.find(device.gpu);
    return found != available.end() && device.waiting_bytes <= found->second;
  });
}

// Those that cannot be met in any order.
std::vector<const Holder*> stuck_holders(const std::vector<Holder>& holders,
                                         std::map<std::string, std::uint64_t> available) {
  std::vector<const Holder*> stuck;
  stuck.reserve(holders.size());
  for (const Holder& holder : holders) stuck.push_back(&holder);
  bool progress = true;
  while (progress) {
    const auto met = std::stable_partition(
        stuck.begin(), stuck.end(), [&](const Holder* holder) { return !can_be_met(*holder, available); });
    progress = met != stuck.end();
    for (auto holder = met; holder != stuck.end(); ++holder) {
      for (const HeldDevice& device : (*holder)->devices) {
        auto& bytes = available[device.gpu];
        bytes = saturated_sum(bytes, device.held_bytes);
      }
    }
    stuck.erase(met, stuck.end());
  }
  return stuck;
}

}  // namespace

std::optional<Refusal> refuse_deadlocked(const std::vector<Holder>& holders,
                                         const std::map<std::string, std::uint64_t>& free_bytes) {
  std::optional<Refusal> youngest;
  std::uint64_t since = 0;
  for (const Holder* holder : stuck_holders(holders, free_bytes)) {
    for (std::size_t i = 0; i < holder->devices.size(); ++i) {
      const HeldDevice& device = holder->devices[i];
      if (!waits(device)) continue;
      // Equal times do not happen but by a forged region; the name then decides.
      if (youngest && std::tie(since, youngest->region) >= std::tie(device.waiting_since, holder->region))
        continue;
      youngest = Refusal{holder->region, i, device.ticket};
      since = device.waiting_since;
    }
  }
  return youngest;
}

}  // namespace gpupool::enforcement
