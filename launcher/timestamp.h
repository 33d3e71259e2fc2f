// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>
#include <string>

namespace gpupool::launcher {

// RFC 3339 in UTC with whole seconds, as Kubernetes writes times.
std::string rfc3339(std::time_t seconds);
// The same with milliseconds, so that the operator can tell which worker of a gang ended first.
std::string rfc3339(const std::timespec& time);

// The wall clock now, with milliseconds.
std::string rfc3339_now();

}  // namespace gpupool::launcher
