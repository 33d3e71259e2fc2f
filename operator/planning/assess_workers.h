#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"

namespace gpupool::planning {

enum class WorkerState {
  kAbsent,   // no pod
  kPending,  // not started yet
  kRunning,
  kSucceeded,
  kCrashed,   // the user's program failed: charged
  kLost,      // evicted, deleted, preempted, node gone: not charged
  kUnproven,  // started again after an end that left no trace: its launcher will repeat the result
};

struct WorkerView {
  std::int64_t rank = 0;
  WorkerState state = WorkerState::kAbsent;
  std::string message;       // for people: why it is pending, crashed or lost
  std::string finished_at;   // of a crash, RFC 3339; may be empty
  bool placed = false;       // its pod is bound to a node
  bool refused = false;      // lost because the kubelet did not admit the pod: nothing of it ever ran
  bool unexplained = false;  // lost, and nothing in the pod says why: forgiven only a few times
};

// How one worker stands, from its pod alone: never from Job conditions, never from the restart count. First
// the launcher's exit 0 (a rank that succeeded stays so), then deletion and disruption, then the launcher's
// result, then the container's own state.
WorkerView assess_worker(const api::Pod& pod, const std::string& container, std::int64_t rank);

// The rank in a StatefulSet pod's name ("x-1-12" -> 12); 0 for pods of a Job.
std::int64_t rank_of(const api::Pod& pod);

// All ranks of the lease value `id`, in order; ranks without a pod are kAbsent. Where one rank has two pods
// (a Job controller before 1.26 replaces an evicted pod at once), the older one counts.
std::vector<WorkerView> assess_workers(const std::vector<std::shared_ptr<const api::Pod>>& pods,
                                       const std::string& id, std::int64_t workers,
                                       const std::string& container);

// The pods of that lease value whose worker is in kUnproven.
std::vector<std::shared_ptr<const api::Pod>> unproven_pods(
    const std::vector<std::shared_ptr<const api::Pod>>& pods, const std::string& id,
    const std::string& container);

// True once nothing of the pod runs or will run. What counts as evidence:
// - it was deleted before it had a node: such a pod is never bound (the API server refuses the binding);
// - a terminal phase, which a kubelet writes when all containers have ended (from 1.27 on always, also of a
//   pod that it never started). Not that of the pod collector, which ends pods of machines that it was told
//   are out of service;
// - for kubelets before 1.27: deleted, no grace left, and every container shown as terminated, or as waiting
//   after an end. Of containers that never began they show nothing more: see never_began().
// Refused: grace 0 alone, which is also what a forced deletion leaves, and what a deletion leaves that races
// with the binding; containers that are only not shown to run, which may have begun unseen.
// Call it with the worker finalizer still on, so that the pod stays until there is evidence.
bool has_ended(const api::Pod& pod);

// True for a pod of which no container was ever shown to begin, on a node whose kubelet is older than 1.27.
// Such a kubelet says no more of it than grace 0, which a forced deletion leaves too, on a machine that is
// cut off and may have begun it unseen. But such a machine becomes NotReady (--node-monitor-grace-period, 40
// s), and one that is back shows within seconds what runs. So the pod is over once it has no grace left and
// the node has been ready for kNeverBegan since the deletion.
bool never_began(const api::Pod& pod, const api::Node& node);
inline constexpr base::Duration kNeverBegan = std::chrono::seconds(60);

// True for a pod with a node that was deleted without grace, by force or before it was bound, and that nobody
// has shown to be over: its processes may run on.
bool is_unconfirmed(const api::Pod& pod);

// True while the kubelet is about to start a container again that has just ended. A kubelet that is told to
// delete the pod in this moment may forget the new container for a minute (seen on 1.20).
bool is_between_runs(const api::Pod& pod);

// True if the success of its only pod proves, from the cache alone, that no process of this exclusive lease
// runs or will run; else only a live look can tell.
// The Job controller makes no second pod while it sees the success of a first: our Jobs want one completion,
// which the API server lets nobody change. What it had made before, of this job, would be in a cache that
// shows the success, since a watch brings pods in the order of their versions. And the pod stays, by our
// finalizer, until its node has been freed: one that a late controller makes afterwards finds no node with
// its label. So exactly one pod of the job may be there, of this lease, by a Job, and nobody deletes it.
bool sole_success(const std::vector<std::shared_ptr<const api::Pod>>& pods, const api::Lease& lease);

// True once the launcher has left a final result: what still runs, if anything, only holds the pod.
bool has_result(const api::Pod& pod);

}  // namespace gpupool::planning
