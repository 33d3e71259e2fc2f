// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"
#include "planning/workers/child.h"

namespace gpupool::planning {

// Remembers what this process has deleted at the end of leases, so that the cache alone can show that no
// worker of a lease runs:
//
//   1. this process has deleted the children of the lease;
//   2. then it has deleted a pod of the lease, which the cache had shown;
//   3. the cache shows that deletion.
//
// A watch brings pods in the order of their versions, and a repeated list is never older, so every pod that
// the children had created is in this cache or gone. A pod that a controller creates later finds no node,
// because the deleted pod keeps its finalizer until its node is free. Used by reconcile threads; not
// thread-safe, the owner locks.
class LeaseEnds {
 public:
  // Call after the server has answered the deletion of the child.
  void deleted(const Child& child);
  // Call after the server has answered the deletion of the pod. REQUIRES: the pod was read from the cache,
  // where it was not being deleted. A pod without a node is ignored, because the pod that replaces it may get
  // a node.
  void deleted(const api::Pod& pod);
  // True if this process has deleted the owner of the pod, so that nothing replaces the pod.
  bool has_deleted_maker_of(const api::Pod& pod) const;
  void forget(const std::string& job_uid) { ends_.erase(job_uid); }

  // pods: all pods of the job in the cache; none of them runs. Returns false if only a read from the server
  // can show the end: also if the job had earlier leases or has lost nodes.
  bool shown(const api::GpuJob& job, const Pods& pods) const;

 private:
  struct End {
    std::string lease_id;
    std::set<const api::ResourceType*> deleted = {};
    std::string pod_uid = {};  // the first pod that was deleted after its owner
  };
  std::map<std::string, End> ends_;  // by UID of the job
};

}  // namespace gpupool::planning
