// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "controllers/cluster/caches.h"
#include "planning/queue/verdict.h"
#include "planning/slices/shared_node.h"

namespace gpupool::controllers {

// The grants of jobs whose status does not show them yet.
using Grants = std::map<api::ObjectKey, planning::Verdict>;

// Who has slices of a node: worker pods, and leases and grants whose workers are not bound yet. Owned by
// PoolQueue. Thread-safe.
class SliceOccupancy {
 public:
  explicit SliceOccupancy(const Caches& caches) : caches_(caches) {}

  // Returns the occupants of each of these nodes, by name. sharers: all jobs with a lease of slices there;
  // their grants are not counted again. leaving: UIDs of jobs whose pods count as ended.
  std::map<std::string, planning::Occupants> occupants(
      const std::vector<std::shared_ptr<const api::Node>>& nodes,
      const std::vector<std::shared_ptr<const api::GpuJob>>& sharers, const Grants& grants,
      const std::set<std::string>& leaving = {}) const;

  // Remembers a worker pod that is gone until the next report of its node, because the last report may still
  // show it.
  void on_pod_gone(const api::Pod& pod);
  // report: null if it was deleted.
  void on_report(const std::string& node, const api::GpuNode* report);

 private:
  using PodName = std::pair<std::string, std::string>;                        // namespace, name
  using Bound = std::map<std::pair<std::string, std::string>, std::int64_t>;  // node, job's UID -> workers

  void add_pods(const std::string& node, const std::set<std::string>& leaving, planning::Occupants& occupants,
                Bound& bound) const;

  const Caches& caches_;
  mutable base::Mutex mutex_;
  std::map<std::string, std::set<PodName>> gone_ GPUPOOL_GUARDED_BY(mutex_);  // by node
};

// True if workers of a sharing pool run on the node or have slices reserved there.
bool has_sharers(const Caches& caches, const api::Node& node);

}  // namespace gpupool::controllers
