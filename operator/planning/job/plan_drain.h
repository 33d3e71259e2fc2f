// SPDX-License-Identifier: Apache-2.0
// What a job does whose node is drained (annotation api::kDrain): it moves to another node, or goes back to
// the queue (docs/protocol.md#drain). Pure.
#pragma once

#include <optional>
#include <set>
#include <string>

#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// Nodes of the lease that are drained.
std::set<std::string> drained_nodes(const Observation& seen);

// While workers run: moves the job off its drained nodes. The other nodes are taken before the workers are
// told to stop. Without other nodes the workers run until the earliest deadline of the drains, then the job
// yields to the queue. A job that cannot move (nodeReplacement Never, or a shared lease) yields without a
// deadline at once. Nothing: no node is drained, or the job waits for another node.
std::optional<Step> leave_drained_nodes(const Observation& seen);

// Before workers run, with nodeReplacement Never: gives the nodes back instead of waiting for a drained one.
std::optional<Step> yield_drained_nodes(const Observation& seen);

// Why the job still runs on a drained node, for people; empty if none is drained.
std::string drain_text(const Observation& seen);
// Time after which a job that waits for another node looks again; nothing if no node is drained.
std::optional<base::Duration> until_drain_changes(const Observation& seen);

}  // namespace gpupool::planning
