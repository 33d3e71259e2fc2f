// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "inventory/gpu_source.h"
#include "telemetry/busy_times.h"

namespace gpupool::telemetry {

// How much the GPUs of this node are used, as one look found it. Maps are by GPU UUID.
struct Telemetry {
  std::optional<base::WallTime> taken;  // when the readings were made; none: there were none
  std::map<std::string, inventory::Usage> readings;
  std::map<std::string, BusyTime> busy;
};

}  // namespace gpupool::telemetry
