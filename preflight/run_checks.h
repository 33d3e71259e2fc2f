// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "checks/finding.h"
#include "options.h"

namespace gpupool::preflight {

// The names of all checks, in the order in which they are made.
std::vector<std::string> check_names();

// Makes the checks that options.checks names, one after the other, on the calling thread. Each check asks the
// machine (probes/) and then judges the answer (checks/). What several checks need is asked once. A machine
// that is in order takes some seconds; an API server that does not answer costs a minute at most.
//
// REQUIRES: a net::CurlGlobal exists.
std::vector<checks::Finding> run_checks(const Options& options, base::Clock& clock, const base::Log& log);

}  // namespace gpupool::preflight
