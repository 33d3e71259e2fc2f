// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "health/health_tracker.h"
#include "inventory/gpu_source.h"

namespace gpupool::agent {

// Keeps the inventory from look to look, tells the HealthTracker what happens to the GPUs, and logs changes
// of health. Without a driver it keeps the last inventory, so that slices stay listed while a driver is being
// replaced. Used by the agent's thread; not thread-safe. `source`, `catalogue` and `tracker` outlive it.
class GpuWatch {
 public:
  GpuWatch(inventory::GpuSource& source, const health::ErrorCatalogue& catalogue,
           health::HealthTracker& tracker, const base::Log& log)
      : source_(source), catalogue_(catalogue), tracker_(tracker), log_(log) {}

  // Lists and probes all GPUs.
  void look(base::WallTime now);
  void errors(const std::vector<inventory::ErrorEvent>& events, base::WallTime now);
  // Readings of all GPUs that answer.
  std::map<std::string, inventory::Usage> usage();

  // Without a driver the GPUs as they were last, and no driver version.
  const inventory::Inventory& inventory() const { return inventory_; }
  const std::string& driver_problem() const { return driver_problem_; }

 private:
  void listed(inventory::Inventory found, base::WallTime now);
  void log_health();

  inventory::GpuSource& source_;
  const health::ErrorCatalogue& catalogue_;
  health::HealthTracker& tracker_;
  base::Log log_;
  inventory::Inventory inventory_;
  std::optional<std::int64_t> opened_;  // as listed last
  std::string driver_problem_ = "the GPU driver was not looked for yet";
  std::map<std::string, std::string> unhealthy_;  // as logged last
};

}  // namespace gpupool::agent
