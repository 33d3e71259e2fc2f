// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"
#include "api/v1alpha1/problem.h"
#include "planning/accounts/funds.h"
#include "planning/job/template_fields.h"
#include "planning/queue/verdict.h"
#include "planning/workers/child.h"
#include "planning/workers/mount_trouble.h"

namespace gpupool::planning {

// The server's answer to a dry run.
struct Rehearsal {
  bool done = false;
  std::optional<api::Problem> problem = std::nullopt;  // nullopt: accepted, or not asked again yet
  // Not asked again yet: it can be after this time. Only of step::RehearsePod.
  base::Duration until = base::Duration::zero();
};

// The queue's answer to step::ReplaceNodes.
struct Replacement {
  std::vector<std::string> kept;  // as in the request
  std::vector<api::NodeRef> nodes;
};

// Everything that decides the next step of a job. Filled by JobObserver on a reconcile thread, once per step.
// The reference and the functions are used only during plan_job(). REQUIRES: the functions have no side
// effects that a later call could notice.
struct Observation {
  const api::GpuJob& job;
  std::shared_ptr<const api::GpuPool> pool = nullptr;  // null: there is no pool of that name
  // What the API server knows in a pod template. Never null.
  std::shared_ptr<const TemplateFields> template_fields = std::make_shared<const TemplateFields>();
  // The names of all pools, in order.
  std::function<std::vector<std::string>()> pool_names = [] { return std::vector<std::string>(); };
  Pods pods = {};                    // workers of the job (is_worker), of any lease value
  std::vector<Child> children = {};  // children of the job (is_child), of any lease value
  std::function<std::shared_ptr<const api::Node>(const std::string&)> node = {};
  // The report of the node's device plugin; null if there is none that belongs to this very node.
  std::function<std::shared_ptr<const api::GpuNode>(const api::Node&)> report_of = [](const api::Node&) {
    return std::shared_ptr<const api::GpuNode>();
  };
  // The jobs whose lease names this node, this job included; also those that wait for others to make room.
  std::function<std::vector<std::shared_ptr<const api::GpuJob>>(const std::string& node)> holders =
      [](const std::string&) { return std::vector<std::shared_ptr<const api::GpuJob>>(); };
  // How long the operator itself has seen this node not ready.
  std::function<base::Duration(const api::Node&)> not_ready_for = {};
  // How long the operator itself has seen this worker run again without knowing how it had ended.
  std::function<base::Duration(const api::Pod&)> unproven_for = [](const api::Pod&) {
    return base::Duration::zero();
  };
  // How long the operator itself has seen this pod being deleted, on a node that was ready all the time.
  std::function<base::Duration(const api::Pod&, bool node_is_ready)> unconfirmed_for =
      [](const api::Pod&, bool) { return base::Duration::zero(); };
  // How long the operator itself has seen workers of the lease stuck; false: none is.
  std::function<base::Duration(bool stuck)> stuck_for = [](bool) { return base::Duration::zero(); };
  // True if this process has deleted the owner of the pod (LeaseEnds::has_deleted_maker_of).
  std::function<bool(const api::Pod&)> maker_deleted = [](const api::Pod&) { return false; };
  Funds funds = {};
  std::string worker_container = {};
  base::WallTime now = {};
  // Delay before a status write that changes only the counts of workers.
  base::Duration until_count = base::Duration::zero();
  // Results of this reconcile:
  std::optional<Verdict> verdict = std::nullopt;  // the queue's answer to step::AskQueue
  std::optional<Replacement> replacement = std::nullopt;
  bool live = false;               // pods and children were read from the server, not from the cache
  bool end_shown = false;          // the caches suffice instead (LeaseEnds::shown)
  bool nodes_taken = false;        // all nodes of the lease carry its value
  bool children_made = false;      // all children of the lease exist and belong to the job
  bool children_late = false;      // the children could not be created at once
  std::string late_cause = {};     // the message of the server; may be empty
  bool dropped = false;            // step::DropWorkers was executed
  bool released = false;           // step::ReleasePods was executed
  Rehearsal rehearsal = {};        // of step::Rehearse
  Rehearsal first_rehearsal = {};  // of step::RehearseFirst
  Rehearsal pod_rehearsal = {};    // of step::RehearsePod
  MountTrouble mounts = {};        // of step::AskMounts
  std::optional<api::Problem> blocked =
      std::nullopt;  // the last step was refused; trying it again is useless
};

}  // namespace gpupool::planning
