// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "agent/boot_file.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "inventory/gpu_source.h"
#include "kubelet/resource_lock.h"
#include "telemetry/telemetry.h"

namespace gpupool::agent {

// Makes telemetry of the readings of each look, and keeps its counters over restarts of the plugin, in
// usage.json of the state directory. The file is written before anybody sees the counters, so they never go
// back, however the plugin ends. While it cannot be written, the counters stay as they were saved last.
//
// A rolling update may start the new plugin before the old one has ended. The one that holds usage.lock
// counts; the other shows what the file says until the lock is free. Used by the agent's thread; not
// thread-safe.
class UsageWatch {
 public:
  UsageWatch(const std::string& state_directory, std::string boot_id, const base::Log& log);

  // readings: of the GPUs that answer, by UUID. An error says why the counters could not be saved; they count
  // on, and are shown once they are saved.
  base::Result<void> look(std::map<std::string, inventory::Usage> readings, base::SteadyTime now,
                          base::WallTime wall);

  // As of the last look.
  const telemetry::Telemetry& telemetry() const { return telemetry_; }

 private:
  void take_over();
  // Takes the counters of the file; there are none without it.
  base::Result<void> restore();

  const std::string boot_id_;
  base::Log log_;
  BootFile file_;
  const std::string lock_path_;
  std::optional<kubelet::ResourceLock> lock_;
  bool counts_ = false;  // rather than another plugin
  telemetry::BusyTimes times_;
  telemetry::Telemetry telemetry_;
};

}  // namespace gpupool::agent
