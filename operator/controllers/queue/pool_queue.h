// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "controllers/cluster/caches.h"
#include "controllers/queue/slice_occupancy.h"
#include "controllers/queue/ticket.h"
#include "planning/forecast/snapshot.h"
#include "planning/forecast/turn_forecast.h"
#include "planning/queue/pool_state.h"
#include "runtime/cache/key_order.h"

namespace gpupool::controllers {

// The current state of a pool: members, leases, waiting jobs.
struct PoolView {
  std::shared_ptr<const api::GpuPool> pool;
  planning::Members members;
  std::vector<planning::PoolNode> nodes;     // of an exclusive pool
  std::vector<planning::SharedNode> shared;  // of a sharing pool
  std::int64_t waiting = 0;
  std::vector<std::string> holding;
  // By node, for nodes with api::kDrain: one of the jobs that hold it.
  std::map<std::string, std::string> to_leave;
  std::optional<api::QueueStatus> queue = {};  // with spec.queue
};

// The queues of all pools. Plans one at a time under a lock, so two jobs never get the same node or the same
// slices: what a Ticket names counts as taken until the ticket is destroyed. Keeps a PoolState per pool and
// applies only changes. Its handlers of cache changes run on the reflectors' threads; they only record the
// change and never block. Reconcile threads call the other functions. Thread-safe.
class PoolQueue final : public Ticket::Issuer {
 public:
  // REQUIRES: constructed before the controllers, so that it records a change before the change wakes a
  // reconcile.
  // clock: for pools with spec.queue; outlives this.
  PoolQueue(Caches& caches, const base::Clock& clock);

  // Answers step::AskQueue. REQUIRES: the job would take nodes at once (stands_in_line).
  Ticket ask(const api::GpuJob& job);
  // Answers step::ReplaceNodes: replaces all nodes of the lease except `kept`. The verdict has no nodes if
  // there are too few, and always in a sharing pool.
  Ticket replace(const api::GpuJob& job, const std::vector<std::string>& kept);
  // Removes a job that cannot go on now from the queue, until it asks again. Its grant becomes free.
  void leave(const api::ObjectKey& job);

  // Calls the handler of on_notify for each job of the pool whose verdict has changed since the last call, on
  // the calling thread.
  void notify(const std::string& pool);
  // REQUIRES: set once, before the manager starts.
  void on_notify(std::function<void(const api::ObjectKey&)> handler) { on_notify_ = std::move(handler); }

  // How long until time alone lets a job claim nodes of others (PoolState::look_again): call notify() then.
  std::optional<base::Duration> until_claims(const std::string& pool);

  // Returns nothing if there is no such pool.
  std::optional<PoolView> view(const std::string& pool);
  // Returns the pool as it matters to the job: to one of its own line, or, for another pool, to the job as if
  // it waited there. Nothing if there is no such pool, or if the job is not in the line of its own pool.
  std::optional<planning::QueueSnapshot> snapshot(const api::GpuJob& job, const std::string& pool);

  // Returns the first jobs of the queue of a pool with spec.queue, for a forecast; nothing for other pools.
  std::optional<planning::TurnSnapshot> first_turns(const std::string& pool);
  // Takes over a forecast: jobs are told their place and likely start. Wakes nobody: call notify().
  void take_forecast(const std::string& pool, const std::vector<planning::Expected>& found);

 private:
  void end_ticket(const api::ObjectKey& job) override;

  // Handlers of cache changes.
  void on_job(const runtime::Change<api::GpuJob>& change);
  void on_report(const runtime::Change<api::GpuNode>& change);
  void on_pod(const runtime::Change<api::Pod>& change);
  std::vector<api::ObjectKey> changed_jobs(const std::string& pool);
  void job_changed(const api::ObjectKey& job);
  void node_changed(const std::string& node);  // the node, its pods or its report have changed
  void everything_changed();                   // a pool has changed, or a list was read again

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

  void work_in_changes() GPUPOOL_REQUIRES(mutex_);
  void start_anew(Changes& changes) GPUPOOL_REQUIRES(mutex_);
  void work_in_node(const std::string& name) GPUPOOL_REQUIRES(mutex_);
  void work_in_job(const api::ObjectKey& key) GPUPOOL_REQUIRES(mutex_);
  void hold(const std::string& node, bool shared, int more) GPUPOOL_REQUIRES(mutex_);
  void share(const std::set<std::string>& nodes, const api::ObjectKey& job, bool begins)
      GPUPOOL_REQUIRES(mutex_);
  Ticket grant(const api::GpuJob& job, const planning::Verdict& verdict) GPUPOOL_REQUIRES(mutex_);
  void drop_grant(const api::ObjectKey& job) GPUPOOL_REQUIRES(mutex_);
  planning::PoolState* find(const std::string& pool) GPUPOOL_REQUIRES(mutex_);

  // Of pools with spec.queue (pool_queue_turns.cc).
  void open_pool(const std::shared_ptr<const api::GpuPool>& pool) GPUPOOL_REQUIRES(mutex_);
  void close_books() GPUPOOL_REQUIRES(mutex_);
  void settle_holds() GPUPOOL_REQUIRES(mutex_);
  void advance(planning::PoolState& state) GPUPOOL_REQUIRES(mutex_);
  void put_hold(planning::PoolState& state, const api::GpuJob& job, const planning::Verdict* granted)
      GPUPOOL_REQUIRES(mutex_);
  planning::Turn turn_of(planning::PoolState& state, const api::GpuJob& job) GPUPOOL_REQUIRES(mutex_);
  std::uint64_t arrival_of(const std::string& job_uid) const;
  Job exchange_known(const api::ObjectKey& key, const Job& job) GPUPOOL_REQUIRES(mutex_);
  void note_refusal(const Job& before, const api::GpuJob& job) GPUPOOL_REQUIRES(mutex_);
  bool is_valid(const api::GpuJob& job, const Job& before, const planning::PoolState& state)
      GPUPOOL_REQUIRES(mutex_);
  planning::PoolState::Describe describer(const planning::PoolState& state) GPUPOOL_REQUIRES(mutex_);
  // What workers of leases and grants request on the node, besides slices.
  planning::Resources requested_on(const api::Node& node, const std::string& resource,
                                   const planning::PoolState::Leaving& leaving) GPUPOOL_REQUIRES(mutex_);
  // Jobs with a lease, and those that were granted nodes.
  std::vector<planning::Holder> holders_of(const planning::PoolState& state) GPUPOOL_REQUIRES(mutex_);
  // Of a sharing pool.
  std::optional<planning::Verdict> verdict_on_slices(planning::PoolState& state, const api::ObjectKey& job)
      GPUPOOL_REQUIRES(mutex_);

  const Caches& caches_;
  const base::Clock& clock_;
  SliceOccupancy slices_;
  std::function<void(const api::ObjectKey&)> on_notify_ = [](const api::ObjectKey&) {};

  base::Mutex mutex_;
  // When the schedule of a pool changes its prices next.
  std::optional<base::WallTime> prices_until_ GPUPOOL_GUARDED_BY(mutex_);
  // What tenants have used, by pool; it outlives the pool's state.
  struct Book {
    std::string pool_uid;
    std::unique_ptr<planning::TenantBook> book;
  };
  std::map<std::string, Book> books_ GPUPOOL_GUARDED_BY(mutex_);
  std::map<std::string, planning::PoolState> pools_ GPUPOOL_GUARDED_BY(mutex_);
  std::set<Job, runtime::InKeyOrder> jobs_ GPUPOOL_GUARDED_BY(mutex_);  // as they were worked in
  std::set<api::ObjectKey> invalid_ GPUPOOL_GUARDED_BY(mutex_);         // of those
  std::set<api::ObjectKey> absent_ GPUPOOL_GUARDED_BY(mutex_);          // leave()
  // By job: nodes that could not run a worker of it, until it runs or its spec changes (PlacementRefused).
  std::map<api::ObjectKey, std::set<std::string>> refused_ GPUPOOL_GUARDED_BY(mutex_);
  std::set<api::ObjectKey> asking_
      GPUPOOL_GUARDED_BY(mutex_);  // in the line because they asked, until their ticket ends
  std::unordered_map<std::string, KnownNode> nodes_ GPUPOOL_GUARDED_BY(mutex_);
  std::unordered_map<std::string, planning::Holders> holders_
      GPUPOOL_GUARDED_BY(mutex_);  // by node, also of none that is known
  std::unordered_map<std::string, std::set<api::ObjectKey>> sharers_
      GPUPOOL_GUARDED_BY(mutex_);  // by node: jobs with a lease of slices
  std::map<api::ObjectKey, planning::Resources> requests_
      GPUPOOL_GUARDED_BY(mutex_);  // of each worker of jobs in sharers_ and granted_
  Grants granted_ GPUPOOL_GUARDED_BY(mutex_);

  mutable base::Mutex changes_mutex_ GPUPOOL_ACQUIRED_AFTER(mutex_);
  Changes changes_ GPUPOOL_GUARDED_BY(changes_mutex_){.everything = true};
  // Creation times have a resolution of seconds. Within one, the order in which the watch brought the jobs
  // decides.
  std::unordered_map<std::size_t, std::uint64_t> arrivals_
      GPUPOOL_GUARDED_BY(changes_mutex_);  // by the UID's hash: equal ones may change order
  std::uint64_t last_arrival_ GPUPOOL_GUARDED_BY(changes_mutex_) = 0;
};

}  // namespace gpupool::controllers
