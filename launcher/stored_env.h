// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "launcher/expected.h"
#include "launcher/worker_env.h"

namespace gpupool::launcher {

// The variables of the command in a file of the state directory, for `env` (env_command.h). That directory is
// the one place that a `kubectl exec` shares with the launcher in every pod: /proc may hide other processes,
// process 1 may be another one (shareProcessNamespace), and the rest of the file system may be read-only.

// Stores them, readable for every user. Not synced: each start of a command writes them anew.
Expected<void> store_env(const std::string& state_dir, const EnvironmentEntries& entries);

// Nothing where no launcher has stored them.
std::optional<EnvironmentEntries> read_env(const std::string& state_dir);

}  // namespace gpupool::launcher
