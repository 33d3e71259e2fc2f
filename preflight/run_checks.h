#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "checks/finding.h"
#include "options.h"

namespace gpupool::preflight {

// In the order in which they are made.
std::vector<std::string> check_names();

// Makes the checks of options.checks. Needs a net::CurlGlobal.
std::vector<checks::Finding> run_checks(const Options& options, base::Clock& clock, const base::Log& log);

}  // namespace gpupool::preflight
