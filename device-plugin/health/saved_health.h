// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "health/gpu_health.h"

namespace gpupool::health {

// The unhealthy ones of these states as JSON, with the boot they belong to. Pure.
std::string write_health(const std::map<std::string, GpuHealth>& states, const std::string& boot_id);

// What write_health() wrote; nothing if it was in another boot, because that reset all GPUs. Clean probes
// start anew. kParse: not such a text, or of a later version. Pure.
base::Result<std::map<std::string, GpuHealth>> read_health(const std::string& text,
                                                           const std::string& boot_id);

}  // namespace gpupool::health
