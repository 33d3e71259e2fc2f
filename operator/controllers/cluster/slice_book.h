#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/cluster/caches.h"
#include "planning/shared_node.h"
#include "planning/verdict.h"

namespace gpupool::controllers {

// What is granted to jobs whose status does not show it yet.
using Grants = std::map<api::ObjectKey, planning::Verdict>;

// Who has slices of which node: worker pods, and the leases and grants whose workers are not bound yet.
// Thread-safe.
class SliceBook {
 public:
  explicit SliceBook(const Caches& caches) : caches_(caches) {}

  // Of each of these nodes, by name. sharers: all jobs with a lease of slices there; their grants are not
  // counted again.
  std::map<std::string, planning::Occupants> occupants(
      const std::vector<std::shared_ptr<const api::Node>>& nodes,
      const std::vector<std::shared_ptr<const api::GpuJob>>& sharers, const Grants& grants) const;

  // A worker pod is gone; until its node reports again, the last report may still show it.
  void pod_gone(const api::Pod& pod);
  // report: null if it was deleted.
  void reported(const std::string& node, const api::GpuNode* report);

 private:
  using PodName = std::pair<std::string, std::string>;                        // namespace, name
  using Bound = std::map<std::pair<std::string, std::string>, std::int64_t>;  // node, job's UID -> workers

  void add_pods(const std::string& node, planning::Occupants& occupants, Bound& bound) const;

  const Caches& caches_;
  mutable std::mutex mutex_;
  std::map<std::string, std::set<PodName>> gone_;  // by node
};

// How many slices the worker pod has; 0 if it is of an exclusive lease.
std::int64_t slices_of(const api::Pod& pod);
// Workers of a sharing pool run on the node, or have slices reserved there.
bool has_sharers(const Caches& caches, const api::Node& node);

}  // namespace gpupool::controllers
