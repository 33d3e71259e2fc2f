// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "telemetry/busy_times.h"

namespace gpupool::telemetry {

// These counters as JSON, with the boot they belong to. Pure.
std::string write_busy_times(const std::map<std::string, BusyTime>& times, const std::string& boot_id);

// What write_busy_times() wrote; nothing if it was in another boot, or boot_id is empty (unknown). kParse:
// not such a text, or of a later version. Pure.
base::Result<std::map<std::string, BusyTime>> read_busy_times(const std::string& text,
                                                              const std::string& boot_id);

}  // namespace gpupool::telemetry
