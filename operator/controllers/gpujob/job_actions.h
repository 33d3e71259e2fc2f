// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"
#include "api/v1alpha1/lease_value.h"
#include "api/v1alpha1/problem.h"
#include "base/clock.h"
#include "base/result.h"
#include "controllers/queue/ticket.h"
#include "planning/accounts/funds.h"
#include "planning/job/step.h"
#include "planning/job/template_fields.h"
#include "planning/workers/child.h"
#include "planning/workers/mount_trouble.h"

namespace gpupool::controllers {

// Everything that the GpuJob reconciler reads and does outside of itself. Implemented by ClusterActions in
// the operator and by a simulated cluster in property tests. Writes are idempotent. Errors have the code of
// the API server; kNotFound of the job itself means that it is gone. Called by reconcile threads. REQUIRES:
// implementations are thread-safe, except in tests.
class JobActions {
 public:
  using Job = std::shared_ptr<const api::GpuJob>;

  virtual ~JobActions() = default;

  // Reads from the caches, including what this program has written. Null or empty if there is nothing.
  virtual Job job(const api::ObjectKey& key) = 0;
  virtual std::shared_ptr<const api::GpuPool> pool(const std::string& name) = 0;
  virtual std::vector<std::string> pool_names() = 0;  // in order
  // What the API server knows in a pod template; never null.
  virtual std::shared_ptr<const planning::TemplateFields> template_fields() = 0;
  virtual std::shared_ptr<const api::Node> node(const std::string& name) = 0;
  // The report of the node's device plugin; null if there is none of this very node.
  virtual std::shared_ptr<const api::GpuNode> report_of(const api::Node& node) = 0;
  // The jobs whose lease names the node.
  virtual std::vector<Job> holders(const std::string& node) = 0;
  // How long this process has seen the node not ready.
  virtual base::Duration not_ready_for(const api::Node& node) = 0;
  virtual planning::Pods workers(const api::GpuJob& job) = 0;
  virtual std::vector<planning::Child> children(const api::GpuJob& job) = 0;
  // The workers as the watch has brought them, without what this program has written: evidence for
  // planning::LeaseEnds.
  virtual planning::Pods watched_workers(const api::GpuJob& job) = 0;

  // Workers and children, read from the server. Also reads nodes of the lease that look lost into the cache.
  struct Live {
    planning::Pods workers;
    std::vector<planning::Child> children;
  };
  virtual base::Result<Live> read_live(const api::GpuJob& job, std::stop_token stop) = 0;

  // The answer of the pool's queue: nodes or slices for the job, or why it gets none.
  virtual Ticket ask_queue(const api::GpuJob& job) = 0;
  // Replaces all nodes of the lease except `kept`; a verdict without nodes if there are too few.
  virtual Ticket replace_nodes(const api::GpuJob& job, const std::vector<std::string>& kept) = 0;
  // Whether the account that pays for the job can.
  virtual planning::Funds funds(const api::GpuJob& job) = 0;
  // Call before a status is written with which a job without nodes gets some. Returns why its account cannot
  // pay for them; else what they cost is set aside until the cache shows the job's lease.
  virtual std::optional<api::Problem> admit(const api::GpuJob& job, const api::GpuJobStatus& next) = 0;
  // Removes a job that cannot go on now from the queue, until it asks again.
  virtual void leave_queue(const api::ObjectKey& job) = 0;

  // Writes to the job. kConflict unless the server has the job exactly as `job`.
  virtual base::Result<Job> write_status(const api::GpuJob& job, const api::GpuJobStatus& status,
                                         std::stop_token stop) = 0;
  virtual base::Result<Job> add_finalizer(const api::GpuJob& job, std::stop_token stop) = 0;
  virtual base::Result<void> remove_finalizer(const api::GpuJob& job, std::stop_token stop) = 0;
  virtual base::Result<void> confirm(const api::GpuJob& job, std::stop_token stop) = 0;  // writes nothing
  virtual base::Result<void> delete_job(const api::GpuJob& job, std::stop_token stop) = 0;

  // Adds taint, label and annotation of the lease value to the node, or removes all marks of the job.
  struct Taken {
    bool written = false;                                // false: the node had the marks already
    std::optional<api::Problem> problem = std::nullopt;  // the node is gone or carries another lease
  };
  virtual base::Result<Taken> take_node(const api::GpuJob& job, const api::NodeRef& ref,
                                        const api::LeaseValue& value, std::stop_token stop) = 0;
  virtual base::Result<void> free_node(const api::GpuJob& job, const api::NodeRef& ref,
                                       std::stop_token stop) = 0;

  // Creates the Job, or Service and StatefulSet, of the lease.
  struct Made {
    bool complete = false;                               // all exist and belong to the job
    std::optional<api::Problem> problem = std::nullopt;  // a person has to act
    std::string waits_for = {};                          // else: an older object that is being deleted
  };
  virtual base::Result<Made> create_children(const api::GpuJob& job, std::stop_token stop) = 0;
  virtual base::Result<Made> create_service(const api::GpuJob& job, std::stop_token stop) = 0;
  // Dry runs (dryRun=All). rehearse: the children and a pod of a job without a lease. rehearse_pod: one pod
  // of the job's lease. Nothing if the server would accept them or cannot tell.
  virtual base::Result<std::optional<api::Problem>> rehearse(const api::GpuJob& job,
                                                             std::stop_token stop) = 0;
  // The same for a worker of a job that is about to get its first lease; FirstAnswers::get.
  virtual std::optional<base::Result<std::optional<api::Problem>>> rehearse_first(const api::GpuJob& job,
                                                                                  std::stop_token stop) = 0;
  virtual base::Result<std::optional<api::Problem>> rehearse_pod(const api::GpuJob& job,
                                                                 std::stop_token stop) = 0;
  // Deletes with background propagation. No error if the child is gone.
  virtual base::Result<void> delete_child(const planning::Child& child, std::stop_token stop) = 0;

  // No error if the pod is gone, in the next three. quickly: with a grace period of 1 s instead of the pod's
  // own.
  virtual base::Result<void> delete_pod(const api::Pod& pod, bool quickly, std::stop_token stop) = 0;
  virtual base::Result<void> release_pod(const api::Pod& pod,
                                         std::stop_token stop) = 0;  // removes its finalizer
  // Reads the Events about volumes that the kubelet cannot mount.
  virtual base::Result<planning::MountTrouble> read_mount_trouble(const api::Pod& pod,
                                                                  std::stop_token stop) = 0;
  // Writes an annotation, so that the kubelet checks the pod again.
  virtual base::Result<void> nudge_pod(const api::Pod& pod, std::stop_token stop) = 0;

  // The answer to a person's question, from the caches (planning/forecast/explain.h).
  virtual api::Explanation explain(const api::GpuJob& job) = 0;

  // Events and metrics; never fail and never block.
  virtual void tell(const api::GpuJob& job, const planning::Note& note) = 0;
  virtual void on_status(const api::GpuJob& before, const api::GpuJobStatus& after) = 0;
  virtual void on_marks_restored() = 0;
};

}  // namespace gpupool::controllers
