// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "objects/new_job.h"

namespace gpupool::submit {

// A script from this machine, and the command that runs it in the worker.
struct SentScript {
  objects::Script script;
  std::vector<std::string> command;
};

// Reads a script of at most 900 KiB: what a ConfigMap holds. A script runs by its #! line; without one, *.py
// by python3 and *.sh by sh. kInvalidArgument for what cannot be sent or run.
base::Result<SentScript> read_script(const std::string& path, const std::string& job_name);

}  // namespace gpupool::submit
