#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/pace.h"
#include "controllers/cluster/caches.h"
#include "controllers/cluster/children.h"
#include "controllers/cluster/node_readiness.h"
#include "controllers/cluster/pod_stopwatch.h"
#include "controllers/cluster/pool_queue.h"
#include "planning/job_plan.h"
#include "planning/lease_ends.h"

namespace gpupool::controllers {

// What one reconcile of a job knows and has done so far.
struct Pass {
  std::shared_ptr<const api::GpuJob> job;
  bool nodes_taken = false;
  bool children_made = false;
  bool children_late = false;
  std::string late_cause;
  bool dropped = false;
  planning::Rehearsal rehearsal;
  planning::Rehearsal pod_rehearsal;
  bool confirmed = false;  // the server has the job just as `job` says: it was written or read a moment ago
  std::optional<planning::Problem> blocked;
  // Read from the server; absent: the caches are good enough so far.
  std::optional<std::vector<std::shared_ptr<const api::Pod>>> live_pods;
  std::optional<std::vector<planning::Child>> live_children;
};

// Lays out for planning what caches and server show of a job. Thread-safe.
class JobObserver {
 public:
  JobObserver(kube::Client& client, Caches& caches, Children& children, PoolQueue& queue,
              NodeReadiness& readiness, base::Clock& clock);

  // The result refers to pass.job.
  planning::Observation observe(const Pass& pass);
  // Reads pods and children of the job from the server into the pass, and those of its nodes that look lost.
  base::Result<void> look_live(Pass& pass, std::stop_token stop);
  // Its status has been written.
  void written(const api::GpuJob& job, const api::GpuJobStatus& status);
  // What planning::LeaseEnds wants to know.
  void deleted(const planning::Child& child);
  void deleted(const api::Pod& pod);
  // Whether step::RehearsePod may ask the server now: each job at most every 30 s, all together twice a
  // second.
  bool may_rehearse_pod(const api::GpuJob& job);
  // What the workers of the job ask a kubelet for, and how long they may take to end.
  ChildOptions manifest_options(const api::GpuJob& job) const;

 private:
  void forget_end(const std::string& job_uid);
  bool end_shown(const api::GpuJob& job, const planning::Pods& pods);
  base::Result<void> look_at_nodes(const api::GpuJob& job, std::stop_token stop);

  kube::Client& client_;
  Caches& caches_;
  Children& children_;
  PoolQueue& queue_;
  NodeReadiness& readiness_;
  base::Clock& clock_;
  base::Pace writes_;         // of statuses, by job
  base::Pace tries_of_job_;   // of a pod
  base::Pace tries_;          // of all jobs together
  PodStopwatch unproven_;     // Observation::unproven_for
  PodStopwatch unconfirmed_;  // Observation::unconfirmed_for
  std::mutex mutex_;
  planning::LeaseEnds ends_;
};

}  // namespace gpupool::controllers
