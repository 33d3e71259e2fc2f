// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>

#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// Starts the next attempt of all workers, on other nodes if some cannot be used any more; returns to the
// queue if there are no others.
Step restart(const Observation& seen, api::GpuJobStatus status, const api::Problem& why);
Step restart_without(const Observation& seen, api::GpuJobStatus status, const std::set<std::string>& leaving,
                     const api::Problem& why);
// Goes on without nodes_to_leave(), after a read from the server; nothing if there are none.
std::optional<Step> leave_nodes(const Observation& seen);
// Shows that the job waits for these nodes; nothing if there are none.
std::optional<Step> await_nodes(const Observation& seen, const std::set<std::string>& names);
// In Restarting: takes the nodes that replace lost ones, before the old workers have ended. Nothing if there
// are none, or if the lease will not get to its next attempt.
std::optional<Step> take_new_nodes(const Observation& seen);
// Adds these nodes of the lease to its lost ones, which keep their taint.
void keep_as_lost(const Observation& seen, const std::set<std::string>& names, api::Lease& lease);
// Returns the names separated by commas, shortened if there are many; for people.
std::string join_names(const std::set<std::string>& names);

}  // namespace gpupool::planning
