#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"
#include "planning/job_plan.h"

namespace gpupool::planning {

// What this process has done at the ends of leases, so that a cache alone can show that nothing of a lease
// runs: its children were deleted; then a pod of it was; and the cache, which had shown that pod, shows this.
// A watch brings pods in the order of their versions, and no list goes back behind them, so every pod that a
// child had made is in this cache or gone. What a late controller makes afterwards finds no place: a worker's
// pod is on its node, and stays until that is free. Not thread-safe.
class LeaseEnds {
 public:
  // The server has answered its deletion.
  void deleted(const Child& child);
  // Likewise; the pod was read from the cache, where nobody was deleting it. One without a node shows
  // nothing: what replaces it may find one.
  void deleted(const api::Pod& pod);
  // Nothing makes this pod anew.
  bool has_deleted_maker_of(const api::Pod& pod) const;
  void forget(const std::string& job_uid) { ends_.erase(job_uid); }

  // pods: all of the job, from the cache, none of which runs. False where only a live look can tell: also for
  // jobs that have had leases before, or have lost nodes.
  bool shown(const api::GpuJob& job, const Pods& pods) const;

 private:
  struct End {
    std::string lease_id;
    std::set<const api::ResourceType*> deleted = {};
    std::string pod_uid = {};  // the first that was deleted after its maker
  };
  std::map<std::string, End> ends_;  // by UID of the job
};

}  // namespace gpupool::planning
