#pragma once

#include <string>
#include <vector>

#include "launcher/options.h"

namespace gpupool::launcher {

// Runs the command if no earlier start did, else repeats the earlier result. `environment` is this process's
// own
// ("NAME=value"). Returns the exit status for this process. Call once, from the main thread.
int run(const Options& options, const std::vector<std::string>& environment);

// Leaves a result for a start whose arguments cannot be used.
void report_unusable(const Options& options, const std::string& problem);

}  // namespace gpupool::launcher
