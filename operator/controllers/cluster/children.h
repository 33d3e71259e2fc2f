// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "controllers/cluster/caches.h"
#include "controllers/cluster/first_answers.h"
#include "controllers/gpujob/job_actions.h"
#include "kube/client.h"
#include "planning/workers/child.h"
#include "planning/workers/manifests.h"
#include "planning/workers/worker_keeper.h"

namespace gpupool::controllers {

// What all workers get.
struct WorkerSettings {
  planning::WorkerImages images;
  // Where they send what they print, asked for each worker. Empty: nowhere. Thread-safe.
  std::function<std::optional<planning::KeeperAccess>()> keeper = {};
};

// Creates, reads and deletes the Job, StatefulSet and Service of a GpuJob. Called by reconcile threads;
// thread-safe.
class Children {
 public:
  Children(kube::Client& client, Caches& caches, WorkerSettings settings, const base::Clock& clock)
      : client_(client), caches_(caches), settings_(std::move(settings)), first_answers_(clock) {}

  // See JobActions::create_children. Uses plain POST, so an object of somebody else is never taken over.
  base::Result<JobActions::Made> create(const api::GpuJob& job, std::stop_token stop);
  base::Result<JobActions::Made> create_service(const api::GpuJob& job, std::stop_token stop);

  // See JobActions::rehearse, rehearse_first and rehearse_pod.
  base::Result<std::optional<api::Problem>> rehearse(const api::GpuJob& job, std::stop_token stop);
  std::optional<base::Result<std::optional<api::Problem>>> rehearse_first(const api::GpuJob& job,
                                                                          std::stop_token stop);
  base::Result<std::optional<api::Problem>> rehearse_pod(const api::GpuJob& job, std::stop_token stop);

  // Deletes with background propagation. No error if the child is gone or has another UID.
  base::Result<void> remove(const planning::Child& child, std::stop_token stop);

  // From the caches, including what this program has written.
  std::vector<planning::Child> cached(const api::GpuJob& job) const;
  // From the server: by name while the job has had few lease values, because for a list the server reads all
  // objects of the kind in the namespace.
  base::Result<std::vector<planning::Child>> live(const api::GpuJob& job, std::stop_token stop);

 private:
  // Returns the settings that the workers get from the job's pool.
  planning::ManifestOptions manifest_options(const api::GpuJob& job) const;
  bool is_shared(const api::GpuJob& job) const;
  bool of_gpus(const api::GpuJob& job) const;
  // True if no other object has the names of the children of the job's last lease.
  base::Result<bool> names_are_free(const api::GpuJob& job, std::stop_token stop);
  // Dry run of one worker. Returns the pod as the server would store it.
  base::Result<std::string> try_pod(const api::GpuJob& job, const planning::ManifestOptions& options,
                                    std::stop_token stop);
  // one: the answer of try_pod.
  base::Result<std::optional<api::Problem>> judge_workers(const base::Result<std::string>& one,
                                                          const api::GpuJob& job, std::stop_token stop);
  // What an existing object with the child's name means for the job.
  template <class K>
  JobActions::Made judge(const api::GpuJob& job, const K& found) const;
  template <class K>
  void drop_kept(const K& found, std::stop_token stop);
  template <class K>
  base::Result<JobActions::Made> create_one(runtime::ReadYourWrites<K>& cache, const api::GpuJob& job,
                                            const std::string& body, std::stop_token stop);

  kube::Client& client_;
  Caches& caches_;
  WorkerSettings settings_;
  FirstAnswers first_answers_;
};

}  // namespace gpupool::controllers
