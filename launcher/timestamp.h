#pragma once

#include <ctime>
#include <string>

namespace gpupool::launcher {

// RFC 3339 in UTC with whole seconds, as Kubernetes writes times.
std::string rfc3339(std::time_t seconds);

// The wall clock now, as rfc3339().
std::string rfc3339_now();

}  // namespace gpupool::launcher
