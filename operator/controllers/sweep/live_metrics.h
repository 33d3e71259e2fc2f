// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_sweep.h"
#include "base/clock.h"
#include "controllers/cluster/caches.h"
#include "controllers/sweep/ask_workers.h"
#include "kube/client.h"
#include "planning/sweep/trial_result.h"

namespace gpupool::controllers {

// The numbers of trials while they run, of sweeps with spec.stopping. The launchers are asked, at the
// addresses of their pods (lib/api/live_metrics_format.h), so a value costs the API server nothing; a worker
// costs it one read of its pod, for the address. What has been told is remembered until the trial has a
// result. Called by one reconcile thread.
class LiveMetrics {
 public:
  using Jobs = std::vector<std::shared_ptr<const api::GpuJob>>;

  LiveMetrics(kube::Client& client, const Caches& caches, AskWorkers ask, const base::Clock& clock);

  // Asks the running workers of rank 0, at most once a second for each sweep, and less often if they are
  // many; takes at most half a second besides the reads of pods. jobs: those of the sweep's trials.
  // Returns when to ask again; nothing if all jobs have ended.
  std::optional<base::Duration> ask(const api::GpuSweep& sweep, const Jobs& jobs, std::stop_token stop);

  // What is known, by trial.
  std::map<std::int64_t, planning::RungValues> values(const api::GpuSweep& sweep) const;
  // Why none of the running workers has answered for a while; empty if one has, or none runs.
  std::string trouble(const api::GpuSweep& sweep) const;

  // Call when the sweep has ended or is gone.
  void forget(const api::ObjectKey& key) { sweeps_.erase(key); }

 private:
  struct Known {
    std::string uid = {};
    std::map<std::int64_t, planning::RungValues> values = {};
    std::map<std::string, std::string> addresses = {};  // by the UID of the pod
    base::SteadyTime next{};                            // when the workers are asked again
    std::optional<base::SteadyTime> silent_since = {};
    std::string trouble = {};
  };
  struct Worker {
    std::int64_t trial = 0;
    std::string job_uid;
    std::shared_ptr<const api::Pod> pod;
  };

  std::vector<Worker> running_workers(const api::GpuSweep& sweep, const Jobs& jobs) const;
  void find_addresses(Known& known, const std::vector<Worker>& workers, const std::stop_token& stop);
  void ask_workers(Known& known, const api::GpuSweep& sweep, const std::vector<Worker>& workers,
                   const std::stop_token& stop);

  kube::Client& client_;
  const Caches& caches_;
  const AskWorkers ask_;
  const base::Clock& clock_;
  std::map<api::ObjectKey, Known> sweeps_;
};

}  // namespace gpupool::controllers
