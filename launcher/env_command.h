// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "launcher/expected.h"

namespace gpupool::launcher {

// What `env` was asked to do.
struct EnvOptions {
  std::string state_dir = "/gpupool";
  std::vector<std::string> command;  // empty: print the variables
};

// Reads the arguments after `env`. Flags end at the first word that is none, or at "--".
Expected<EnvOptions> parse_env(const std::vector<std::string>& arguments);

// For people in a worker's container (`kubectl exec`): replaces this process by the command, with
// `environment` and the variables of the rank's own command. Returns an exit code when it cannot, or when it
// has printed them.
int run_env(const EnvOptions& options, const std::vector<std::string>& environment);

}  // namespace gpupool::launcher
