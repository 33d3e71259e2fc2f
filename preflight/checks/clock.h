// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "checks/finding.h"

namespace gpupool::checks {

struct ClockFacts {
  bool synchronised = false;  // by something that tells the kernel so (NTP, PTP)
  // How far the clock is ahead of the API server's, behind if negative: the least that explains the answer,
  // as a Date has whole seconds and travels for a while. Absent: no server was asked.
  std::optional<std::chrono::milliseconds> ahead;
};

// More than a second is what no working NTP leaves. Half a minute is as long as a pool waits by default for a
// node that is silent: by then the times in this node's events, reports and logs contradict what was decided
// about it, and certificates and tokens made just now may look as if they were not valid yet.
inline constexpr std::chrono::seconds kWarnAhead{1};
inline constexpr std::chrono::seconds kFailAhead{30};

Finding judge_clock(const ClockFacts& facts);

}  // namespace gpupool::checks
