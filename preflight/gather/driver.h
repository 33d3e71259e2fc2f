#pragma once

#include <string>

#include "base/log.h"
#include "checks/driver.h"
#include "gather/host_root.h"

namespace gpupool::gather {

// Opens the driver, which can take seconds. library: a path, or a name that the loader searches for; empty:
// the machine's, or else the one that this container was given.
checks::DriverFacts driver(const HostRoot& root, const std::string& library, const base::Log& log);

}  // namespace gpupool::gather
