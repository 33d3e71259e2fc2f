// SPDX-License-Identifier: Apache-2.0
#include "telemetry/busy_times.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "telemetry/saved_busy_times.h"

namespace gpupool::telemetry {

void BusyTimes::add(const std::map<std::string, inventory::Usage>& readings, base::SteadyTime now,
                    base::WallTime wall) {
  for (const auto& [gpu, reading] : readings) {
    if (!reading.gpu_percent) continue;
    const BusyTime fresh{.since = std::chrono::floor<std::chrono::seconds>(wall)};
    auto& time = times_.try_emplace(gpu, fresh).first->second;
    if (const auto last = last_.find(gpu); last != last_.end() && now - last->second <= kMaxGap) {
      const auto passed = now - last->second;
      time.busy += passed * std::clamp<std::int64_t>(*reading.gpu_percent, 0, 100) / 100;
      time.sampled += passed;
    }
    last_[gpu] = now;
  }
}

std::string BusyTimes::save(const std::string& boot_id) const { return write_busy_times(times_, boot_id); }

base::Result<void> BusyTimes::restore(const std::string& text, const std::string& boot_id) {
  auto saved = read_busy_times(text, boot_id);
  if (!saved) return tl::unexpected(std::move(saved.error()));
  times_ = std::move(*saved);
  last_.clear();
  return {};
}

}  // namespace gpupool::telemetry
