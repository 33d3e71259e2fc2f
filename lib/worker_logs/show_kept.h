// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>

#include "worker_logs/kept_logs.h"
#include "worker_logs/log_follower.h"
#include "worker_logs/log_output.h"

namespace gpupool::logs {

// Shows what a keeper has of an attempt: the lines of the wanted ranks, merged by their times. options.follow
// does not count. Returns whether all was shown. Errors: the caller may not read it. Blocks; one thread
// writes to `output`.
base::Result<bool> show_kept(const KeptLogs& kept, const std::string& ns, const KeptAttempt& attempt,
                             const FollowOptions& options, LogOutput& output, base::Clock& clock,
                             const std::stop_token& stop);

}  // namespace gpupool::logs
