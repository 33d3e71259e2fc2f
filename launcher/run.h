// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launcher/options.h"

namespace gpupool::launcher {

// Runs the command if no earlier start of this container did; otherwise repeats the earlier result.
// environment: of this process, as "NAME=value". Returns the exit status for this process.
//
// REQUIRES: called once, from the main thread, before any other thread is started.
int run(const Options& options, const std::vector<std::string>& environment);

// Leaves a result for a start whose arguments cannot be used.
void report_unusable(const Options& options, const std::string& problem);

}  // namespace gpupool::launcher
