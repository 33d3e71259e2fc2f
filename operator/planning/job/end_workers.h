// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "planning/job/observation.h"
#include "planning/job/step.h"

namespace gpupool::planning {

// How long after the grace period the operator waits for a kubelet to confirm the end of a deleted pod.
inline constexpr auto kUnconfirmedLimit = std::chrono::minutes(2);

// True if no process of the pod runs or will run (docs/protocol.md#when-a-process-has-ended): shown by the
// pod itself, by the end of its Node object, or by never_began().
bool is_over(const Observation& seen, const api::Pod& pod);
// Deletes children and pods of every lease value except `keep`, but for those that stay (kept_workers.h), and
// removes our finalizer from pods that have ended. Nothing if nothing of this can be done now.
std::optional<Step> drop_stale_workers(const Observation& seen, const std::string& keep);
// The same for a job in the queue, once per reconcile. It does not wait for the result, because nodes may be
// granted to the job meanwhile.
std::optional<Step> drop_before_queue(const Observation& seen);
// Pods of lease values other than `keep` that have ended, do not stay, and still have our finalizer.
Pods ended_pods(const Observation& seen, const std::string& keep);
// True if no node of the job's lease carries the lease value of the pod.
bool is_unmarked(const Observation& seen, const api::Pod& pod);
// True if pods of lease values other than `keep` may still run, except on lost nodes.
bool stale_workers_run(const Observation& seen, const std::string& keep);
// The next step when the job can only wait until workers have ended or a node is lost. Tells the user about
// pods that were deleted by force.
Step await_kubelets(const Observation& seen);

}  // namespace gpupool::planning
