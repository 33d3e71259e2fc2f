// SPDX-License-Identifier: Apache-2.0
// What `queue` shows of a pool with spec.queue.
#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "base/clock.h"
#include "base/result.h"
#include "command/session.h"
#include "screen/terminal.h"

namespace gpupool::jobs {

// A job for which others make room.
struct OpenClaim {
  std::string job;  // "namespace/name"
  // The same of those; nothing: not among the jobs that were read.
  std::vector<std::optional<std::string>> awaits;
  std::optional<base::WallTime> until;
};

// What waiting jobs were told, and who makes room for whom.
struct QueueTurns {
  std::map<api::ObjectKey, api::JobQueueStatus> waiting;
  std::vector<OpenClaim> claims;
};

// Reads the jobs of the pool as objects: lists do not tell this. ns empty: of all namespaces.
base::Result<QueueTurns> read_turns(command::Session& session, const std::string& pool, const std::string& ns,
                                    const std::stop_token& stop);

// Returns who is first in line, and a table of the tenants.
std::string tenants_text(const api::GpuPool& pool, const screen::Terminal& terminal);

// Returns a line for each, with line ends.
std::string claims_text(const std::vector<OpenClaim>& claims);

// "3", "at most 20", "-": not told.
std::string place_text(const api::JobQueueStatus& turn);
// "2026-10-01T14:10:00Z by History".
std::string start_text(const api::JobQueueStatus& turn);

}  // namespace gpupool::jobs
