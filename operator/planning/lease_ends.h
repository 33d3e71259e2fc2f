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
// runs: its children were deleted; then our finalizer was taken off a pod of it that had ended; and the
// cache, which had shown that pod, shows this. A watch brings pods in the order of their versions, and no
// list goes back behind them, so every pod that a child had made is in this cache or gone. What a late
// controller makes afterwards could be missed by a live look as well. Not thread-safe.
class LeaseEnds {
 public:
  // The server has answered its deletion.
  void deleted(const Child& child);
  // The server has taken our finalizer off it a moment ago. It had ended, and was read from the cache.
  void let_go(const api::Pod& pod);
  // Nothing makes this pod anew.
  bool has_deleted_maker_of(const api::Pod& pod) const;
  void forget(const std::string& job_uid) { ends_.erase(job_uid); }

  // pods: all of the job, from the cache, none of which runs. False where only a live look can tell: also for
  // jobs that have had leases before, or have lost nodes.
  bool shown(const api::GpuJob& job, const std::vector<std::shared_ptr<const api::Pod>>& pods) const;

 private:
  struct End {
    std::string lease_id;
    std::set<const api::ResourceType*> deleted = {};
    std::string pod_uid = {};  // the first that was let go
  };
  std::map<std::string, End> ends_;  // by UID of the job
};

}  // namespace gpupool::planning
