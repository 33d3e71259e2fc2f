#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "health/gpu_health.h"
#include "inventory/gpu_source.h"

namespace gpupool::agent {

// The GPUs of the node and how they are, from look to look. Not thread-safe.
class GpuWatch {
 public:
  GpuWatch(inventory::GpuSource& source, health::Book& book, const base::Log& log)
      : source_(source), book_(book), log_(log) {}

  // Lists and probes all GPUs.
  void look(base::WallTime now);
  void xids(const std::vector<inventory::XidEvent>& events, base::WallTime now);
  // Readings of all GPUs that answer.
  std::map<std::string, inventory::Usage> usage();

  // Without a driver the GPUs as they were last, and no driver version.
  const inventory::Inventory& inventory() const { return inventory_; }
  const std::string& driver_problem() const { return driver_problem_; }

 private:
  void listed(inventory::Inventory found, base::WallTime now);
  void log_health();

  inventory::GpuSource& source_;
  health::Book& book_;
  base::Log log_;
  inventory::Inventory inventory_;
  std::optional<std::int64_t> opened_;  // as listed last
  std::string driver_problem_ = "the GPU driver was not looked for yet";
  std::map<std::string, std::string> unhealthy_;  // as logged last
};

}  // namespace gpupool::agent
