// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "health/error_catalogue.h"
#include "health/gpu_health.h"
#include "inventory/gpu_source.h"
#include "settings/settings.h"

namespace gpupool::health {

// The health of all physical GPUs of the node. Slices have no health of their own. Does no I/O: the agent's
// thread tells it what happens and when. Not thread-safe.
//
// A GPU that is new is healthy. An error (by the vendor's catalogue and the settings), a failed probe, a GPU
// that the driver no longer lists and a missing driver make it unhealthy. It is healthy again after
// settings.recovery_probes clean probes in a row and settings.recovery_seconds without trouble. If the
// trouble lasts until a reset, that counts only from a reload of the driver on, or from the moment when the
// GPU answers again after it was lost.
class HealthTracker {
 public:
  HealthTracker(settings::Settings settings, ErrorCatalogue errors)
      : settings_(std::move(settings)), errors_(std::move(errors)) {}
  // Takes over new settings. A GPU that an error made unhealthy until a reset waits for clean probes only, if
  // the new settings say so.
  void use(settings::Settings settings);

  // event.gpu empty: any GPU may have had the error, so it counts for all.
  void error(const inventory::ErrorEvent& event, base::WallTime now);
  // The result of a probe; ignored for a GPU that was never listed.
  void probe(const std::string& gpu, const inventory::Probe& probe, base::WallTime now);
  // The GPUs that the driver lists now; one that is missing is lost. reloaded: the driver was reloaded since
  // the last call, so trouble that lasts until a reset is over, and only clean probes are missing.
  void listed(const std::vector<inventory::Gpu>& gpus, bool reloaded, base::WallTime now);
  // There is no driver; why: for people.
  void driver_gone(const std::string& why, base::WallTime now);

  const std::map<std::string, GpuHealth>& states() const { return states_; }  // by GPU UUID
  std::map<std::string, std::string> unhealthy() const;                       // UUID -> reason and detail

  // Text for a file in the plugin's state directory, so that a restarted plugin remembers unhealthy GPUs.
  // restore() ignores GPUs of another boot of the machine. On kParse nothing has changed.
  std::string save(const std::string& boot_id) const;
  base::Result<void> restore(const std::string& text, const std::string& boot_id);

 private:
  struct Trouble {
    std::string reason;
    std::string detail;
    bool until_reset = false;
    bool is_down = false;
  };

  // The code in a reason such as "Xid79".
  std::optional<std::uint64_t> code_in(const std::string& reason) const;
  settings::ErrorAction action_of(std::uint64_t code) const;
  static void mark(GpuHealth& state, const Trouble& trouble, base::WallTime now);
  void count_clean(GpuHealth& state, base::WallTime now) const;

  settings::Settings settings_;
  ErrorCatalogue errors_;
  std::map<std::string, GpuHealth> states_;
};

}  // namespace gpupool::health
