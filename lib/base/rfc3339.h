// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace gpupool::base {

// metav1.Time: UTC in seconds ("2026-01-02T03:04:05Z").
std::string to_rfc3339(WallTime time);
// metav1.MicroTime: UTC in microseconds, for events and the leader election lease.
std::string to_rfc3339_micro(WallTime time);
// Parses any RFC 3339 time, with optional fraction and offset; returns nothing for other text. Times before
// 1900 or after 2180 (such as a certificate that expires in 9999) become the first or last moment of these
// years, so that differences of two times, and a time plus some decades, fit into WallTime.
std::optional<WallTime> parse_rfc3339(std::string_view text);

}  // namespace gpupool::base
