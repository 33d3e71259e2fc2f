// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "inventory/gpu_source.h"

namespace gpupool::telemetry {

// Two counters of one GPU. Of two reads with the same `since`, the increase of `busy` divided by the increase
// of `sampled` is the mean utilization in between.
struct BusyTime {
  base::Duration busy{};     // the integral of the utilization: an hour at 50 % is half an hour
  base::Duration sampled{};  // the time that `busy` is about; gaps are left out
  base::WallTime since{};    // when both began at 0, in whole seconds
  bool operator==(const BusyTime&) const = default;
};

// Adds up how long each GPU is busy. A reading of the driver is about the last second at most, so it counts
// for the time since the reading before. If that was more than kMaxGap ago, nobody knows what the GPU did
// meanwhile, and the time counts neither as busy nor as sampled. Nothing ever decreases.
//
// Does no I/O: the agent's thread tells it what was read and when. Not thread-safe.
class BusyTimes {
 public:
  static constexpr std::chrono::seconds kMaxGap{5};

  // Takes over the readings of one look, by GPU UUID. A GPU without a utilization (MIG) is not counted.
  void add(const std::map<std::string, inventory::Usage>& readings, base::SteadyTime now,
           base::WallTime wall);

  const std::map<std::string, BusyTime>& all() const { return times_; }  // by GPU UUID

  // Text for a file in the plugin's state directory, so that a restarted plugin counts on. restore() forgets
  // what was counted before, and takes nothing from another boot of the machine: the file may be older than
  // what was last reported then. On kParse nothing has changed.
  std::string save(const std::string& boot_id) const;
  base::Result<void> restore(const std::string& text, const std::string& boot_id);

 private:
  std::map<std::string, BusyTime> times_;
  std::map<std::string, base::SteadyTime> last_;  // when each GPU was read last
};

}  // namespace gpupool::telemetry
