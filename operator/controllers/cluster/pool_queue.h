#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "controllers/cluster/caches.h"
#include "controllers/cluster/slice_book.h"
#include "planning/membership.h"
#include "planning/node_gpus.h"
#include "planning/plan_queue.h"

namespace gpupool::controllers {

// A pool as it stands: members, what is leased, who waits.
struct PoolView {
  std::shared_ptr<const api::GpuPool> pool;
  planning::Members members;
  std::vector<planning::PoolNode> nodes;     // of an exclusive pool
  std::vector<planning::SharedNode> shared;  // of a sharing pool
  std::vector<std::shared_ptr<const api::GpuJob>> queue;
  std::vector<std::string> holding;
};

// Plans the queues, one at a time, so that within this process two jobs are never given the same node or the
// same slices: a grant counts as taken until settle() says that the job's status shows it (or that nothing
// came of it). Thread-safe.
class PoolQueue {
 public:
  explicit PoolQueue(const Caches& caches) : caches_(caches), slices_(caches) {}

  // What a job that holds nothing gets; nodes in the answer are granted to it.
  planning::Verdict verdict(const api::GpuJob& job);
  // The nodes of a lease with the lost ones replaced; granted like a verdict. Empty if there are not enough,
  // and in a sharing pool.
  std::vector<api::NodeRef> replace(const api::GpuJob& job, const std::vector<std::string>& kept);
  // The job's newest status is in the cache; its grant, if any, ends.
  void settle(const api::ObjectKey& job);

  // Nodes, jobs or pools changed.
  void invalidate();
  // Creation times have a resolution of seconds; within one, the order in which the watch brought the jobs
  // decides.
  void arrived(const std::string& job_uid);
  void departed(const std::string& job_uid);
  // A worker pod is gone; a node has reported (null: its report is gone).
  void pod_gone(const api::Pod& pod) { slices_.pod_gone(pod); }
  void reported(const std::string& node, const api::GpuNode* report) { slices_.reported(node, report); }
  // Jobs of the pool whose verdict is news to them.
  std::vector<api::ObjectKey> changed_jobs(const std::string& pool);
  // Nothing if there is no such pool.
  std::optional<PoolView> view(const std::string& pool);

 private:
  using Verdicts = std::map<api::ObjectKey, planning::Verdict>;
  PoolView view_locked(const std::shared_ptr<const api::GpuPool>& pool);
  // Nodes that jobs hold; as a whole: those of shared leases are left out.
  std::set<std::string> leased_locked(bool as_a_whole) const;
  const Verdicts& plan_locked(const std::shared_ptr<const api::GpuPool>& pool);
  std::uint64_t arrival_locked(const std::string& job_uid) const;

  const Caches& caches_;
  SliceBook slices_;
  std::mutex mutex_;
  std::map<std::string, Verdicts> planned_;  // by pool; cleared by invalidate()
  Grants granted_;
  std::unordered_map<std::string, std::uint64_t> arrivals_;  // by UID
  std::uint64_t last_arrival_ = 0;
};

}  // namespace gpupool::controllers
