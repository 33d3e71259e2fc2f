// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "command/command.h"
#include "worker_logs/kept_logs.h"

namespace gpupool::jobs {

struct FinishedOptions {
  std::string pool = {};    // only of this one
  std::string output = {};  // json, yaml, name or wide
  std::string keeper = {};
};

// Prints the attempts of one namespace that have ended and whose logs the keeper has, newest first, also of
// jobs that were deleted. Returns the exit code.
base::Result<int> list_finished(const FinishedOptions& options, command::Context& context);

}  // namespace gpupool::jobs
