#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "controllers/cluster/caches.h"
#include "controllers/cluster/pool_state.h"
#include "controllers/cluster/slice_book.h"
#include "runtime/cache/key_order.h"

namespace gpupool::controllers {

// A pool as it stands: members, what is leased, who waits.
struct PoolView {
  std::shared_ptr<const api::GpuPool> pool;
  planning::Members members;
  std::vector<planning::PoolNode> nodes;     // of an exclusive pool
  std::vector<planning::SharedNode> shared;  // of a sharing pool
  std::int64_t waiting = 0;
  std::vector<std::string> holding;
};

// Plans the queues, one at a time, so that within this process two jobs are never given the same node or the
// same slices: a grant counts as taken until settle() says that the job's status shows it (or that nothing
// came of it). Keeps what it knows of each pool and works in only what changed. Thread-safe.
class PoolQueue {
 public:
  explicit PoolQueue(const Caches& caches) : caches_(caches), slices_(caches) {}

  // What a job gets that would take nodes at once (planning::asks_for_nodes); nodes in the answer are granted
  // to it.
  planning::Verdict verdict(const api::GpuJob& job);
  // The nodes of a lease with the lost ones replaced; granted like a verdict. Empty if there are not enough,
  // and in a sharing pool.
  std::vector<api::NodeRef> replace(const api::GpuJob& job, const std::vector<std::string>& kept);
  // The job's newest status is in the cache; its grant, if any, ends.
  void settle(const api::ObjectKey& job);
  // The same; but what the job wanted to write was refused. It leaves the line until it asks again.
  void step_aside(const api::ObjectKey& job);
  // Jobs of the pool whose verdict is news to them.
  std::vector<api::ObjectKey> changed_jobs(const std::string& pool);
  // Nothing if there is no such pool.
  std::optional<PoolView> view(const std::string& pool);

  // What the caches have that they had not before. These only take a note and never block.
  void job_changed(const api::ObjectKey& job);
  void node_changed(const std::string& node);  // itself, what runs on it, or what it reports
  void everything_changed();                   // pools, or a list was read anew
  // Creation times have a resolution of seconds; within one, the order in which the watch brought the jobs
  // decides.
  void arrived(const std::string& job_uid);
  void departed(const std::string& job_uid);
  // A worker pod is gone; a node has reported (null: its report is gone).
  void pod_gone(const api::Pod& pod) { slices_.pod_gone(pod); }
  void reported(const std::string& node, const api::GpuNode* report) { slices_.reported(node, report); }

 private:
  struct Changes {
    bool everything = false;
    std::set<api::ObjectKey> jobs = {};
    std::set<std::string> nodes = {};
  };
  using Job = std::shared_ptr<const api::GpuJob>;
  struct KnownNode {
    std::string pool;
    std::vector<std::string> excluded_by = {};
  };

  // All of these need mutex_.
  void work_in_changes();
  void start_anew(Changes& changes);
  void work_in_node(const std::string& name);
  void work_in_job(const api::ObjectKey& key);
  void hold(const std::string& node, bool shared, int more);
  void share(const std::set<std::string>& nodes, const api::ObjectKey& job, bool begins);
  void grant(const api::ObjectKey& job, const planning::Verdict& verdict);
  void drop_grant(const api::ObjectKey& job);
  PoolState* find(const std::string& pool);
  std::uint64_t arrival_of(const std::string& job_uid) const;
  Job exchange_known(const api::ObjectKey& key, const Job& job);
  bool is_valid(const api::GpuJob& job, const Job& before, const PoolState& state);
  PoolState::Describe describer(const PoolState& state) const;
  // Where no nodes are planned.
  std::optional<planning::Verdict> verdict_on_slices(PoolState& state, const api::ObjectKey& job);

  const Caches& caches_;
  SliceBook slices_;

  std::mutex mutex_;
  std::map<std::string, PoolState> pools_;
  std::set<Job, runtime::InKeyOrder> jobs_;  // as they were worked in
  std::set<api::ObjectKey> invalid_;         // of those
  std::set<api::ObjectKey> aside_;           // step_aside()
  std::set<api::ObjectKey> asking_;          // in the line because they asked, until they are settled
  std::unordered_map<std::string, KnownNode> nodes_;
  std::unordered_map<std::string, Holders> holders_;                   // by node, also of none that is known
  std::unordered_map<std::string, std::set<api::ObjectKey>> sharers_;  // by node: jobs with a lease of slices
  Grants granted_;

  mutable std::mutex changes_mutex_;  // taken after mutex_
  Changes changes_{.everything = true};
  std::unordered_map<std::size_t, std::uint64_t> arrivals_;  // by the UID's hash: equal ones may change order
  std::uint64_t last_arrival_ = 0;
};

}  // namespace gpupool::controllers
