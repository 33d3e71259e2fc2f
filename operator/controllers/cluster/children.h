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
};

// The Job, StatefulSet and Service of a GpuJob. Thread-safe.
class Children {
 public:
  // Make it before the handlers that wake whoever reads `cached`, and end it after the caches' informers.
  Children(kube::Client& client, Caches& caches, base::Clock& clock, std::string launcher_image);

  struct Made {
    bool complete = false;                     // all exist and are ours
    std::optional<planning::Problem> problem;  // a person has to act; neither: wait, an old one is going away
  };
  // Plain POSTs: a foreign object is never taken over.
  base::Result<Made> create(const api::GpuJob& job, const ChildOptions& options, std::stop_token stop);
  // Only the Service of a gang.
  base::Result<Made> create_service(const api::GpuJob& job, const ChildOptions& options,
                                    std::stop_token stop);

  // True when nobody else has the names that the job's last lease wanted.
  base::Result<bool> names_are_free(const api::GpuJob& job, std::stop_token stop);

  // Background propagation; a child that is gone or another one by now is fine.
  base::Result<void> remove(const planning::Child& child, std::stop_token stop);

  // From the caches, with what was created or deleted a moment ago put right.
  std::vector<planning::Child> cached(const api::GpuJob& job);
  // From the server. By their names while the job has not had many lease values: a list, even of few, makes
  // the server read all objects of the kind in the namespace.
  base::Result<std::vector<planning::Child>> live(const api::GpuJob& job, std::stop_token stop);

 private:
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
