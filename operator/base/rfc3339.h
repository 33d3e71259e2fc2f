#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace gpupool::base {

// Kubernetes' metav1.Time: UTC with seconds ("2026-01-02T03:04:05Z").
std::string to_rfc3339(WallTime time);
// metav1.MicroTime, for events and leases.
std::string to_rfc3339_micro(WallTime time);
// Any RFC 3339 time with optional fraction and offset; nothing if it is not one. What is before 1900 or
// after 2180 (a certificate that expires in 9999) becomes the first or last moment of these years: whatever
// others wrote, the difference of two times, and a time and some decades, fit into WallTime.
std::optional<WallTime> parse_rfc3339(std::string_view text);

}  // namespace gpupool::base
