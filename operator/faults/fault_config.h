// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "faults/fault.h"

namespace gpupool::faults {

// GPUPOOL_FAULTS=seed=7,rate=0.05[,kinds=reset+expired-event]
struct FaultConfig {
  std::uint64_t seed = 0;
  double rate = 0;             // share of calls and of watch events with a fault
  std::set<Fault> kinds = {};  // empty: all
};
base::Result<FaultConfig> parse_faults(std::string_view text);

// GPUPOOL_CRASH=before:12 or after:12
struct CrashConfig {
  std::uint64_t call = 0;  // counted from 1; 0: never
  bool after = false;
};
base::Result<CrashConfig> parse_crash(std::string_view text);

}  // namespace gpupool::faults
