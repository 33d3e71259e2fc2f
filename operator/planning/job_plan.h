#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "planning/job_validation.h"
#include "planning/verdict.h"

namespace gpupool::planning {

// A Job, StatefulSet or Service of ours.
struct Child {
  const api::ResourceType* type = nullptr;
  api::ObjectKey key;
  std::string uid;
  std::string lease_id;
  bool deleting = false;
};

// Of a child of the job, as far as planning::is_worker asks.
api::ObjectMeta metadata_of(const Child& child, const api::GpuJob& job);

using Pods = std::vector<std::shared_ptr<const api::Pod>>;

// What the server said to an object that it was only asked about.
struct Rehearsal {
  bool done = false;
  std::optional<Problem> problem =
      std::nullopt;  // nothing: it would have it, or has not been asked again yet
};

// Everything a step is decided from. References and functions are only used during the call.
struct Observation {
  const api::GpuJob& job;
  const api::GpuPool* pool = nullptr;  // null: there is none of that name
  Pods pods = {};                      // workers of the job (is_worker), of any lease value
  std::vector<Child> children = {};    // children of the job (is_child), likewise
  std::function<std::shared_ptr<const api::Node>(const std::string&)> node = {};
  std::optional<Verdict> verdict = std::nullopt;  // of the pool's queue; only where asks_for_nodes() says so
  std::function<std::vector<api::NodeRef>(const std::vector<std::string>& kept)> replace = {};
  // For how long the operator itself has seen this node not ready.
  std::function<base::Duration(const api::Node&)> not_ready_for = {};
  // For how long the operator itself has seen this worker run again without a trace of how it had ended.
  std::function<base::Duration(const api::Pod&)> unproven_for = [](const api::Pod&) {
    return base::Duration::zero();
  };
  // For how long the operator itself has seen this pod on its way out, on a node that was ready all the time.
  std::function<base::Duration(const api::Pod&, bool node_is_ready)> unconfirmed_for =
      [](const api::Pod&, bool) { return base::Duration::zero(); };
  // Whether this process has deleted what made the pod: LeaseEnds::has_deleted_maker_of.
  std::function<bool(const api::Pod&)> maker_deleted = [](const api::Pod&) { return false; };
  std::string worker_container = {};
  base::WallTime now = {};
  // Until workers that have ended are to be counted in the status, if that is all there is to say.
  base::Duration until_count = base::Duration::zero();
  // What this pass of the reconcile has done or found out already.
  bool live = false;             // pods and children were read from the server, not from the cache
  bool end_shown = false;        // the caches are as good as that: LeaseEnds::shown
  bool nodes_taken = false;      // all nodes of the lease carry its value
  bool children_made = false;    // all children of the lease exist and are ours
  bool children_late = false;    // they could not be made at once, and it is not known for how long
  std::string late_cause = {};   // the server's words, if it said anything
  bool dropped = false;          // step::DropWorkers was done
  Rehearsal rehearsal = {};      // of step::Rehearse
  Rehearsal pod_rehearsal = {};  // of step::RehearsePod
  std::optional<Problem> blocked =
      std::nullopt;  // the last step could not be done, and not for a passing reason
};

struct Note {
  bool warning = false;
  std::string reason;
  std::string text;
};

// The next thing to do. Each is idempotent, and what it leads to is found again from the objects alone.
namespace step {
struct AddFinalizer {};
struct RemoveFinalizer {};
struct WriteStatus {
  api::GpuJobStatus status;
  std::optional<Note> note = std::nullopt;  // told as an event once the write has succeeded
};
struct TakeNodes {  // the lease's nodes get its taint, label and annotation; stale ones of this job are
                    // swapped
  std::vector<api::NodeRef> only = {};  // empty: all of them
  Pods let_go = {};                     // of values that no node carries then
};
struct CreateChildren {};
struct DropWorkers {  // deletes these; let_go: the worker finalizer goes off pods that have ended
  std::vector<Child> children;
  struct Deletion {
    std::shared_ptr<const api::Pod> pod;
    bool quickly = false;  // its command is over: there is nothing to wait for
  };
  std::vector<Deletion> pods_to_delete;
  Pods let_go;
  Pods pods_to_nudge;  // their kubelet seems to have forgotten them
  bool waits = true;   // for what comes of it; else the pass goes on
};
struct FreeNodes {  // taint, label and annotation of this job go, then the pods, then the status is written
  std::vector<api::NodeRef> nodes;
  Pods let_go;  // deleted first, where nobody has
  WriteStatus then;
  bool job_goes = false;  // in its place our finalizer is taken off: nobody could read it any more
};
struct RestoreService {};  // of a gang that runs
// Asks the server whether it would have the workers of the job, which holds nothing, and creates nothing. Its
// answer becomes `rehearsal`.
struct Rehearse {};
// Asks the server whether it would have one pod of the lease: the workload's controller makes none. Its
// answer becomes `pod_rehearsal`.
struct RehearsePod {};
struct LookLive {};  // what is about to be concluded must not come from a stale cache
struct DeleteJob {};
struct Idle {
  std::optional<base::Duration> after = std::nullopt;
};
}  // namespace step

using Step =
    std::variant<step::Idle, step::AddFinalizer, step::RemoveFinalizer, step::WriteStatus, step::TakeNodes,
                 step::CreateChildren, step::RestoreService, step::DropWorkers, step::FreeNodes,
                 step::Rehearse, step::RehearsePod, step::LookLive, step::DeleteJob>;

// Whether the job would take nodes now if it got them; only then is its pool's queue asked for a verdict.
// `seen` may lack the verdict.
bool asks_for_nodes(const Observation& seen);

// The lease and worker protocols (design sections 5 and 6) as one pure function.
Step plan_job(const Observation& seen);

}  // namespace gpupool::planning
