// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/problem.h"
#include "planning/workers/child.h"

namespace gpupool::planning {

struct Note {
  bool warning = false;
  std::string reason;
  std::string text;
};

// The steps that plan_job() returns and the job reconciler executes (JobActions). Each is idempotent; what
// follows it is found again from the objects alone. After most steps the reconciler observes and plans again.
//
//   step            does                                                            then
//   Idle            nothing                                                         ends the reconcile
//   AskQueue        asks the pool's queue for nodes: Observation::verdict           plans again
//   ReplaceNodes    asks it to replace all nodes except `kept`: ::replacement       plans again
//   AddFinalizer    adds the finalizer gpupool.dev/lease to the job                 plans again
//   RemoveFinalizer removes it                                                      ends
//   WriteStatus     writes the status, then records the note as an event            plans again
//   TakeNodes       marks nodes with a lease value                                  plans again
//   CreateChildren  creates the Job, or the Service and the StatefulSet             plans again
//   RestoreService  creates the Service of a running gang again                     plans again
//   DropWorkers     deletes children and pods, releases pods that have ended        waits, or plans again
//   ReleasePods     removes the finalizer gpupool.dev/worker from pods              plans again
//   FreeNodes       removes marks from nodes, releases pods, writes the status      plans again
//   Rehearse        dry run of the children of a job without a lease: ::rehearsal   plans again
//   RehearseFirst   dry run of a worker before the first lease: ::first_rehearsal   plans again, or waits
//   RehearsePod     dry run of one pod of the lease: ::pod_rehearsal                plans again
//   AskMounts       reads why a kubelet does not mount a worker's volumes: ::mounts plans again
//   LookLive        reads pods and children from the server: ::live                 plans again
//   DeleteJob       deletes the job (ttlSecondsAfterFinished)                       ends
namespace step {
struct AddFinalizer {};
struct RemoveFinalizer {};
struct WriteStatus {
  api::GpuJobStatus status;
  std::optional<Note> note = std::nullopt;  // recorded as an event after the write has succeeded
};
struct AskQueue {};
struct ReplaceNodes {
  std::vector<std::string> kept;
};
// Adds taint, label and annotation of a lease value; replaces those of an older value of this job.
struct TakeNodes {
  std::vector<api::NodeRef> only = {};  // empty: all nodes of the lease
  std::string value = {};               // empty: the lease's
  Pods to_release = {};                 // pods of values that no node carries afterwards; released last
};
struct CreateChildren {};
struct DropWorkers {
  std::vector<Child> children;
  struct Deletion {
    std::shared_ptr<const api::Pod> pod;
    bool quickly = false;  // with the shortest grace period, because the command has ended
  };
  std::vector<Deletion> pods_to_delete;
  Pods to_release;
  Pods pods_to_nudge;  // pods that their kubelet seems to have forgotten
  bool waits = true;   // true: the reconcile ends here; false: it plans again
};
struct ReleasePods {
  Pods pods;
};
struct FreeNodes {
  std::vector<api::NodeRef> nodes;
  Pods to_release;
  WriteStatus then;
  bool job_goes = false;  // removes the job's finalizer instead of writing `then`
};
struct RestoreService {};
struct Rehearse {};
struct RehearseFirst {};
struct RehearsePod {};
struct AskMounts {
  std::shared_ptr<const api::Pod> pod;
};
struct LookLive {};
struct DeleteJob {};
struct Idle {
  std::optional<base::Duration> after = std::nullopt;
};
}  // namespace step

using Step =
    std::variant<step::Idle, step::AskQueue, step::ReplaceNodes, step::AddFinalizer, step::RemoveFinalizer,
                 step::WriteStatus, step::TakeNodes, step::CreateChildren, step::RestoreService,
                 step::DropWorkers, step::ReleasePods, step::FreeNodes, step::Rehearse, step::RehearseFirst,
                 step::RehearsePod, step::AskMounts, step::LookLive, step::DeleteJob>;

}  // namespace gpupool::planning
