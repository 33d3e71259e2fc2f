// SPDX-License-Identifier: Apache-2.0
// When a worker's processes are over: the evidence of docs/protocol.md#when-a-process-has-ended. Pure.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"
#include "base/clock.h"

namespace gpupool::planning {

// True if the container was ever shown to run or to end.
bool has_begun(const api::ContainerStatus& status);

// True if no process of the pod runs or will run (docs/protocol.md#when-a-process-has-ended). Evidence:
// - The pod was deleted before it had a node. The API server refuses to bind such a pod.
// - A terminal phase written by the kubelet, after all containers have ended (from 1.27 on always, also for a
//   pod that it never started). Not the phase that the pod collector writes for machines declared out of
//   service.
// - Before 1.27: deleted, no grace period left, and every container terminated, or waiting after an end. For
//   containers that never began see never_began().
// Not evidence: grace period 0 alone, which a forced deletion leaves too, and a deletion during the binding;
// containers that are merely not shown to run, because they may have begun since.
// REQUIRES: the worker finalizer is still on the pod, so that the pod stays until there is evidence.
bool has_ended(const api::Pod& pod);

// True for a pod of which no container was ever shown to begin, on a ready node with a kubelet before 1.27.
// Such a kubelet reports only grace period 0, which a forced deletion leaves too, on a machine that is cut
// off and may have started the pod. But such a machine becomes NotReady (--node-monitor-grace-period, 40 s),
// and one that is back reports within seconds what runs. So the pod is over when no grace period is left and
// the node was ready for kNeverBegan since the deletion; the caller measures that.
bool never_began(const api::Pod& pod, const api::Node& node);
inline constexpr base::Duration kNeverBegan = std::chrono::seconds(60);

// True for a pod with a node that was deleted without a grace period, by force or before it was bound, and
// whose end nothing has shown. Its processes may still run.
bool is_unconfirmed(const api::Pod& pod);

// True while the kubelet is about to restart a container that has just ended. A kubelet that must delete the
// pod at this moment may forget the new container for a minute (seen with 1.20).
bool is_between_runs(const api::Pod& pod);

// True if all containers have ended by themselves and the terminal phase is missing. A kubelet from 1.27 on
// writes it a moment later, when the pod's sandbox is gone too.
bool awaits_phase(const api::Pod& pod);

// True if the success of its only pod proves, from the cache alone, that no process of this lease runs or
// will run. If false, only a read from the server can show it.
//
// The proof: the Job wants one completion, which nobody can change, and its controller creates no second pod
// while it sees the success of the first. A pod that it had created earlier would be in a cache that shows
// the success, because a watch brings pods in the order of their versions. It creates none later either,
// because our finalizer keeps the first pod until the Job has counted it (release_kept). So there must be
// exactly one pod of the job, of this lease, owned by a Job and not being deleted.
bool sole_success(const std::vector<std::shared_ptr<const api::Pod>>& pods, const api::Lease& lease);

// True if the launcher has left a final result, and results that spec.results wants are put away; what still
// runs only keeps the pod alive.
bool has_result(const api::Pod& pod);

}  // namespace gpupool::planning
