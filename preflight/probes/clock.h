// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.h"

namespace gpupool::probes {

// adjtimex(2): whether something keeps the kernel's clock in time.
bool clock_synchronised();

// The time in an HTTP header Date, "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110 5.6.7). Pure.
std::optional<base::WallTime> parse_http_date(const std::string& text);

// How far our clock is at least ahead of one that said `date`, in whole seconds, somewhen between `before`
// and `after` of ours; negative: behind. Pure.
std::chrono::milliseconds ahead_of(base::WallTime date, base::WallTime before, base::WallTime after);

}  // namespace gpupool::probes
