// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/log.h"
#include "checks/driver.h"
#include "probes/host_root.h"

namespace gpupool::probes {

// Opens the driver, which can take seconds. library: a path, or a name that the loader searches for; empty:
// the machine's, or else the one that this container was given.
checks::DriverFacts driver(const HostRoot& root, const std::string& library, const base::Log& log);

}  // namespace gpupool::probes
