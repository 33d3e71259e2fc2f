#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "inventory/gpu_source.h"
#include "report/node_report.h"

namespace gpupool::agent {

// What the plugin knows after one look at everything; for metrics and probes.
struct Snapshot {
  report::Facts facts;
  std::map<std::string, inventory::Usage> usage;  // by GPU UUID
  std::string driver_problem;                     // empty: there is a driver
  std::string settings_problem;                   // empty: the file's settings are in force
  std::vector<std::string> notes;                 // for the owner
  base::SteadyTime taken{};
};

// The newest snapshot, never null. Thread-safe.
class CurrentSnapshot {
 public:
  CurrentSnapshot() : snapshot_(std::make_shared<const Snapshot>()) {}
  void set(Snapshot snapshot) {
    auto next = std::make_shared<const Snapshot>(std::move(snapshot));
    const std::lock_guard lock(mutex_);
    snapshot_ = std::move(next);
  }
  std::shared_ptr<const Snapshot> get() const {
    const std::lock_guard lock(mutex_);
    return snapshot_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Snapshot> snapshot_;
};

}  // namespace gpupool::agent
