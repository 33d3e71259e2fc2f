// SPDX-License-Identifier: Apache-2.0
#include "enforcement/wait_loop.h"

#include <algorithm>
#include <map>

#include "enforcement/mebibytes.h"
#include "enforcement/shares.h"

namespace gpupool::enforcement {
namespace {

constexpr auto kWaitPace = std::chrono::milliseconds(100);
constexpr auto kIdlePace = std::chrono::seconds(1);
// The regions are not read at one moment, and the memory of a process that was killed is not free at once.
constexpr int kLooksToBelieve = 3;

bool may_wait(const Container& container) {
  return std::any_of(container.devices.begin(), container.devices.end(), [](const Container::Device& device) {
    return device.enforcement.memory_wait_seconds > 0;
  });
}

}  // namespace

WaitLoop::WaitLoop(const RegionStore& regions, inventory::GpuSource& source,
                   const base::Latest<std::vector<Container>>& containers, base::Metrics& metrics,
                   const base::Log& log)
    : regions_(regions), source_(source), containers_(containers), metrics_(metrics), log_(log) {}

void WaitLoop::run(base::Clock& clock, const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const bool may = step();
    clock.sleep_for(may ? base::Duration(kWaitPace) : base::Duration(kIdlePace), stop);
  }
}

bool WaitLoop::step() {
  const auto containers = containers_.get();
  if (std::none_of(containers->begin(), containers->end(), may_wait)) {
    suspect_.reset();
    return false;
  }
  const auto found = deadlocked(*containers);
  looks_ = found && found == suspect_ ? looks_ + 1 : 1;
  suspect_ = found;
  if (!found || looks_ < kLooksToBelieve) return true;
  suspect_.reset();
  const auto refused = refuse_wait(regions_.path(found->region), found->device, found->ticket);
  if (!refused) {
    log_.error("Cannot end a wait for memory", {{"error", refused.error().message}});
    return true;
  }
  metrics_
      .counter("gpupool_plugin_waits_refused_total",
               "Waits for memory that were refused: all waited for each other.")
      .increment();
  log_.info("Containers wait for each other's memory; the last one gets out-of-memory",
            {{"region", found->region}});
  return true;
}

std::optional<Refusal> WaitLoop::deadlocked(const std::vector<Container>& containers) {
  const bool waits = std::any_of(containers.begin(), containers.end(), [&](const Container& container) {
    return anybody_waits(regions_.path(container.region));
  });
  if (!waits) return std::nullopt;
  const auto holders = holders_of(count_containers(regions_, containers));
  std::map<std::string, std::uint64_t> free_bytes;
  for (const Holder& holder : holders) {
    for (const HeldDevice& device : holder.devices) {
      if (device.waiting_bytes == 0 || free_bytes.contains(device.gpu)) continue;
      const auto usage = source_.usage(device.gpu);
      const auto mib = usage ? usage->memory_free_mib.value_or(0) : 0;
      free_bytes[device.gpu] = bytes_of_mib(mib);
    }
  }
  return refuse_deadlocked(holders, free_bytes);
}

}  // namespace gpupool::enforcement
