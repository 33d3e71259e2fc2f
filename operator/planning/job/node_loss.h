// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>

#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// Names of nodes of the lease, by case. A node is lost if it is gone, has another UID, or was not ready for
// longer than the pool allows (docs/protocol.md#step-7-lost-node).
//
//                   nodeReplacement: Allowed    nodeReplacement: Never
//   lost_nodes      all lost nodes              all lost nodes
//   given_up_nodes  all lost nodes              those that are gone or have another UID
//   silent_nodes    none                        all lost nodes
//   cordoned_nodes  all that take no new workers: cordoned or drained
//   nodes_to_leave  given up or cordoned        given up
//   nodes_to_await  none                        silent or cordoned
//
// The job goes on without nodes that it gives up or leaves, and waits for silent ones.
std::set<std::string> lost_nodes(const Observation& seen);
std::set<std::string> given_up_nodes(const Observation& seen);
std::set<std::string> silent_nodes(const Observation& seen);
std::set<std::string> cordoned_nodes(const Observation& seen);
std::set<std::string> nodes_to_leave(const Observation& seen);
std::set<std::string> nodes_to_await(const Observation& seen);
// Time until the next node that is not ready counts as lost; nothing if all are ready.
std::optional<base::Duration> until_next_loss(const Observation& seen);
// Puts back taints on nodes of the lease, or lost ones, that have the label of this job but no lease taint:
// the node controller of Kubernetes before 1.26 may undo a taint (kubernetes/kubernetes#113136). One step for
// one lease value; nothing if no node is affected. A node that was freed has neither label nor taint.
std::optional<Step> restore_taints(const Observation& seen);
// True if, in the cache, all nodes of the lease carry its value. Always true for a shared lease.
bool nodes_carry(const Observation& seen);

}  // namespace gpupool::planning
