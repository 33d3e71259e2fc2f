#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "planning/tolerations.h"

namespace gpupool::planning {

// What a job asks of a pool, apart from slices. Jobs that ask for the same are answered together.
struct Demand {
  std::int64_t workers = 0;
  std::int64_t gpus_per_worker = 0;
  std::vector<std::string> nodes;  // exactly these; empty: any
  Tolerations tolerations;
  auto operator<=>(const Demand&) const = default;

  std::string text() const;  // for people
};

// First come first served within priority (higher first), by creation time, then by arrival.
struct Place {
  std::int64_t after_priority = 0;  // the negated priority
  base::WallTime created;
  std::uint64_t arrival = 0;
  api::ObjectKey key;
  auto operator<=>(const Place&) const = default;
};

// The jobs of one pool that wait, in order and by demand. A change costs the logarithm of their number.
class WaitingLine {
 public:
  WaitingLine() = default;
  WaitingLine(const WaitingLine&) = delete;  // it refers to itself
  WaitingLine& operator=(const WaitingLine&) = delete;
  WaitingLine(WaitingLine&&) = default;
  WaitingLine& operator=(WaitingLine&&) = default;
  ~WaitingLine() = default;

  using Job = std::shared_ptr<const api::GpuJob>;
  using Jobs = std::map<Place, Job>;
  using Groups = std::map<Demand, Jobs>;
  // Where a job stands, until it changes or goes.
  class Where {
   public:
    const Demand& demand() const { return group_->first; }
    const Place& place() const { return entry_->first; }
    const Job& job() const { return entry_->second; }

   private:
    friend class WaitingLine;
    Where(Groups::iterator group, Jobs::iterator entry) : group_(group), entry_(entry) {}
    Groups::iterator group_;
    Jobs::iterator entry_;
  };

  // Takes the place of an earlier version of the job. arrival: of two jobs that were created in the same
  // second, the one with the lower comes first. Whether its place or its demand is another than before.
  bool put(Job job, std::uint64_t arrival);
  void remove(const api::ObjectKey& key);

  const Where* find(const api::ObjectKey& key) const;  // null if it does not wait here
  const Groups& groups() const { return groups_; }
  std::size_t size() const { return where_.size(); }
  std::vector<Job> in_order() const;

 private:
  struct ByKey {
    using is_transparent = void;
    bool operator()(const Where& a, const Where& b) const { return a.place().key < b.place().key; }
    bool operator()(const Where& a, const api::ObjectKey& b) const { return a.place().key < b; }
    bool operator()(const api::ObjectKey& a, const Where& b) const { return a < b.place().key; }
  };
  Groups groups_;
  std::set<Where, ByKey> where_;
};

}  // namespace gpupool::planning
