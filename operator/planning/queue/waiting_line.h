// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/near.h"
#include "planning/nodes/near_groups.h"
#include "planning/nodes/node_needs.h"
#include "planning/pricing/price_list.h"

namespace gpupool::planning {

// Where a job stands in a pool with spec.queue. Jobs with the same turn are ordered by age. Empty in other
// pools.
struct Turn {
  std::string tenant;
  std::int64_t priority = 0;        // among the jobs of the tenant
  std::int64_t bound_seconds = 0;   // bound_class(); 0: it has none
  std::int64_t ending_seconds = 0;  // from its deadline until its nodes are free, at most
  auto operator<=>(const Turn&) const = default;
};

// What a job asks of an exclusive pool. Jobs with the same demand get the same answer.
struct Demand {
  std::int64_t workers = 0;
  std::int64_t gpus_per_worker = 0;
  std::vector<std::string> nodes;  // exactly these nodes; empty: any
  NodeNeeds needs;
  std::vector<std::string> avoided = {};  // nodes to take only if there are no others; in order of name
  api::Near near = {};                    // near_of()
  Turn turn = {};
  auto operator<=>(const Demand&) const = default;

  std::string text() const;  // for people
  bool avoids(const std::string& node) const {
    return std::binary_search(avoided.begin(), avoided.end(), node);
  }
};

// Orders the queue: higher priority first, then earlier creation time, then earlier arrival.
struct QueuePosition {
  std::int64_t after_priority = 0;  // the negated priority
  base::WallTime created;
  std::uint64_t arrival = 0;
  api::ObjectKey key;
  auto operator<=>(const QueuePosition&) const = default;
};

// The waiting jobs of one pool, in queue order within each demand. A change costs O(log jobs). Owned by
// PoolState; not thread-safe.
class WaitingLine {
 public:
  // gpu_resource: that of the pool, for needs_of(). near: GpuPoolSpec::near. prices: nothing in a pool
  // without a price.
  explicit WaitingLine(std::string gpu_resource = "", std::optional<api::Near> near = std::nullopt,
                       std::optional<PriceList> prices = std::nullopt)
      : gpu_resource_(std::move(gpu_resource)), near_(std::move(near)), prices_(std::move(prices)) {}
  WaitingLine(const WaitingLine&) = delete;  // it contains iterators into itself
  WaitingLine& operator=(const WaitingLine&) = delete;
  WaitingLine(WaitingLine&&) = default;
  WaitingLine& operator=(WaitingLine&&) = default;
  ~WaitingLine() = default;

  using Job = std::shared_ptr<const api::GpuJob>;
  using Jobs = std::map<QueuePosition, Job>;
  struct Group {
    Jobs jobs;
    std::size_t id =
        0;  // no other group of the line has it; small, since those of groups that are gone are used again
    // In pools with spec.queue. Groups whose demands differ in their turn alone have the same shape.
    std::size_t shape = 0;    // small, as id
    std::size_t in_lane = 0;  // place in the list of its tenant (Lanes)
  };
  using Groups = std::map<Demand, Group>;
  // What the order of the turns looks at, of one group.
  struct LaneGroup {
    const Demand* demand;
    const Group* group;
    Jobs::const_iterator first;  // of its jobs
    base::WallTime created;      // of `first`
    std::int64_t priority;
    std::int64_t bound_seconds;
  };
  // The groups of each tenant, in any order. Empty in pools without spec.queue.
  using Lanes = std::map<std::string, std::vector<LaneGroup>>;
  // A job in the line. Valid until the job is put again or removed.
  class Entry {
   public:
    const Demand& demand() const { return group_->first; }
    const QueuePosition& position() const { return in_group_->first; }
    const Job& job() const { return in_group_->second; }
    const Group& group() const { return group_->second; }

   private:
    friend class WaitingLine;
    Entry(Groups::iterator group, Jobs::iterator in_group) : group_(group), in_group_(in_group) {}
    Groups::iterator group_;
    Jobs::iterator in_group_;
  };

  // Adds a job or replaces its earlier version. arrival: orders jobs that were created in the same second,
  // lowest first. avoided: Demand::avoided. turn: Demand::turn. Returns whether the job's position or demand
  // has changed.
  bool put(Job job, std::uint64_t arrival, std::vector<std::string> avoided = {}, Turn turn = {});
  void remove(const api::ObjectKey& key);

  const Entry* find(const api::ObjectKey& key) const;  // null if the job is not in the line
  const Groups& groups() const { return groups_; }
  // More than the id of any group.
  std::size_t group_ids() const { return group_ids_.end(); }
  const Lanes& lanes() const { return lanes_; }
  std::size_t shapes() const { return shape_ids_.end(); }  // more than any
  std::size_t size() const { return entries_.size(); }
  // The jobs in the line that were told that they are first in line (JobQueueStatus::reserved_since).
  const std::set<api::ObjectKey>& reserving() const { return reserving_; }
  std::vector<Job> in_order() const;
  // Number of jobs before this position.
  std::size_t count_before(const QueuePosition& position) const;
  // Returns a line of the same pool without jobs.
  WaitingLine copy_empty() const { return WaitingLine(gpu_resource_, near_, prices_); }
  // Returns a line with the jobs before this position. Templates are not parsed again.
  WaitingLine copy_before(const QueuePosition& position) const;
  // The position that the job has, or would have.
  static QueuePosition position_of(const api::GpuJob& job, std::uint64_t arrival);

 private:
  void note_reserving(const api::GpuJob& job);
  struct ByKey {
    using is_transparent = void;
    bool operator()(const Entry& a, const Entry& b) const { return a.position().key < b.position().key; }
    bool operator()(const Entry& a, const api::ObjectKey& b) const { return a.position().key < b; }
    bool operator()(const api::ObjectKey& a, const Entry& b) const { return a < b.position().key; }
  };
  // Numbers that are given out and come back.
  class Ids {
   public:
    std::size_t take();
    void give_back(std::size_t id) { free_.push_back(id); }
    std::size_t end() const { return end_; }

   private:
    std::size_t end_ = 0;
    std::vector<std::size_t> free_;
  };
  struct Shape {
    std::size_t id = 0;
    std::size_t groups = 0;
  };
  void begin_group(Groups::iterator group);
  void end_group(Groups::iterator group);
  void note_first(Groups::iterator group);

  std::string gpu_resource_;
  std::optional<api::Near> near_;
  std::optional<PriceList> prices_;
  Groups groups_;
  Ids group_ids_;
  std::map<Demand, Shape> shapes_;  // by demand without its turn
  Ids shape_ids_;
  Lanes lanes_;
  std::set<Entry, ByKey> entries_;
  std::set<api::ObjectKey> reserving_;
};

}  // namespace gpupool::planning
