#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "controllers/cluster/caches.h"
#include "kube/client.h"
#include "planning/job_plan.h"
#include "planning/manifests.h"

namespace gpupool::controllers {

// What a job's workers take over from its pool.
struct ChildOptions {
  std::string gpu_resource;
  std::optional<std::int64_t> max_grace_seconds;
  bool shared = false;  // the pool shares its nodes
};

// The Job, StatefulSet and Service of a GpuJob. Thread-safe.
class Children {
 public:
  // Make it before the handlers that wake whoever reads `cached`, and end it after the caches' informers.
  Children(kube::Client& client, Caches& caches, base::Clock& clock, std::string launcher_image);

  struct Made {
    bool complete = false;                                    // all exist and are ours
    std::optional<planning::Problem> problem = std::nullopt;  // a person has to act
    std::string waits_for = {};  // neither: what is in the way, and is going away
  };
  // Plain POSTs: a foreign object is never taken over.
  base::Result<Made> create(const api::GpuJob& job, const ChildOptions& options, std::stop_token stop);
  // Only the Service of a gang.
  base::Result<Made> create_service(const api::GpuJob& job, const ChildOptions& options,
                                    std::stop_token stop);

  // Whether the server would have the children and a pod of a job that holds nothing, without creating any
  // (dryRun=All): nothing, or what it says. options: of the lease that the job would have.
  base::Result<std::optional<planning::Problem>> rehearse(const api::GpuJob& job, const ChildOptions& options,
                                                          std::stop_token stop);
  // The same of one pod of the lease that the job has. One request.
  base::Result<std::optional<planning::Problem>> rehearse_pod(const api::GpuJob& job,
                                                              const ChildOptions& options,
                                                              std::stop_token stop);

  // Background propagation; a child that is gone or another one by now is fine.
  base::Result<void> remove(const planning::Child& child, std::stop_token stop);

  // From the caches, with what was created or deleted a moment ago put right.
  std::vector<planning::Child> cached(const api::GpuJob& job);
  // From the server. By their names while the job has not had many lease values: a list, even of few, makes
  // the server read all objects of the kind in the namespace.
  base::Result<std::vector<planning::Child>> live(const api::GpuJob& job, std::stop_token stop);

 private:
  planning::ManifestOptions manifest_options(const ChildOptions& options) const;
  // True when nobody else has the names that the job's last lease wanted.
  base::Result<bool> names_are_free(const api::GpuJob& job, std::stop_token stop);
  // What the server's answer to a create says of the child.
  base::Result<Made> judge(const api::ResourceType& type, const api::GpuJob& job,
                           const base::Result<api::Service>& made);
  base::Result<Made> create_one(const api::ResourceType& type, const api::GpuJob& job,
                                const std::string& body, std::stop_token stop);

  template <class K>
  void forget_deleted(runtime::Informer<K>& informer);

  kube::Client& client_;
  Caches& caches_;
  base::Clock& clock_;
  std::string launcher_image_;
  struct Recent {
    planning::Child child;
    bool gone = false;
    base::SteadyTime at;
  };
  using RecentKey = std::pair<std::string, std::string>;  // lease, UID: those of a job are neighbours
  void note(const planning::Child& child, bool gone);
  void forget_old();  // needs mutex_

  std::mutex mutex_;
  std::map<RecentKey, Recent> recent_;
  std::deque<std::pair<base::SteadyTime, RecentKey>> noted_;  // in order of time
};

}  // namespace gpupool::controllers
