// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "launcher/options.h"

namespace gpupool::launcher {

using EnvironmentEntries = std::vector<std::pair<std::string, std::string>>;

// The variables the command gets. PET_* are torchrun's own (argument name in capitals after PET_). The
// launcher starts one process per worker: with several processes per worker that is torchrun, and RANK is the
// first of the global ranks on this worker.
EnvironmentEntries worker_environment(const Options& options);

// The named pipe that takes the command's metrics; every rank has it, and that of rank 0 counts.
std::string metric_pipe(const Options& options);

// The files of a command that saves checkpoints: what tells it that it will be stopped, and what it says of
// its last checkpoint.
std::string notice_file(const Options& options);
std::string report_file(const Options& options);

// `current` ("NAME=value" each) with `entries` in place of every variable of the same name.
std::vector<std::string> merged_environment(const std::vector<std::string>& current,
                                            const EnvironmentEntries& entries);

}  // namespace gpupool::launcher
