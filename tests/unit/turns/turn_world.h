// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "planning/queue/pool_state.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::test {

// A pool with spec.queue on a clock that the test moves. Jobs take what the queue gives them at once, and end
// when the test says it, or at their time. Those that have to make room stop after ending_seconds, and wait
// again.
class TurnWorld {
 public:
  TurnWorld(api::PoolQueueSpec queue, std::size_t nodes, std::int64_t gpus = 1);

  struct Job {
    std::string ns = "ns";
    std::int64_t workers = 1;
    std::int64_t deadline = 0;  // 0: none
    std::int64_t runs = 0;      // seconds that it holds its nodes; 0: until end()
    std::int64_t priority = 0;
    bool saves = false;        // has a checkpoint, and loses nothing
    bool preemptible = false;  // without one
  };
  // Puts a job into the queue and lets the queue decide.
  void submit(const std::string& name, const Job& job);
  void end(const std::string& name);
  void leave(const std::string& name);  // the queue
  // Moves the clock; jobs end at their time.
  void advance(std::int64_t seconds);
  std::int64_t now() const { return now_; }

  bool runs(const std::string& name) const {
    const auto found = held_.find(name);
    return found != held_.end() && found->second.awaits.empty();
  }
  std::vector<std::string> nodes_of(const std::string& name) const;
  bool waits(const std::string& name) { return waiting_.contains(name); }
  std::size_t waiting() const { return waiting_.size(); }
  std::size_t running() const { return held_.size(); }
  planning::Verdict verdict(const std::string& name);
  planning::MilliGpus held(const std::string& tenant);
  // The first time that the job was told as its latest start.
  std::optional<base::WallTime> promised(const std::string& name) const;
  std::optional<std::int64_t> started(const std::string& name) const;
  planning::PoolState& state() { return *state_; }

  struct Held {
    api::ObjectKey key;
    std::string tenant;
    planning::MilliGpus amount = 0;
    std::vector<std::string> nodes;
    std::int64_t since = 0;
    std::int64_t ends = 0;       // by itself
    std::int64_t yields_at = 0;  // 0: nobody waits for it
    std::set<std::string> awaits;
    Job job;
    std::string uid;
  };
  const std::map<std::string, Held>& holds() const { return held_; }
  // A claim, as the jobs were before it.
  struct Claim {
    std::string job;
    std::string ns;
    planning::Verdict verdict;
    std::vector<std::string> victims;
  };
  std::function<void(const Claim&)> on_claim = [](const Claim&) {};
  std::int64_t ending_seconds = 0;
  std::int64_t claims() const { return claims_; }
  std::int64_t yields(const std::string& name) const {
    const auto found = yields_.find(name);
    return found == yields_.end() ? 0 : found->second;
  }
  planning::TenantBook::Share share_of(const std::string& tenant) { return book_->share(tenant, at(now_)); }

 private:
  void decide();
  bool take_one();
  void tell();
  void take(std::string name, const planning::Verdict& verdict);
  void claim(const std::string& name, const planning::Verdict& verdict);
  void put_hold(const std::string& name);
  void release(const std::string& name);
  void make_room(const std::string& name);
  std::optional<std::int64_t> next_change() const;

  std::shared_ptr<const api::GpuPool> pool_;
  std::unique_ptr<planning::TenantBook> book_;
  std::unique_ptr<planning::PoolState> state_;
  std::int64_t now_ = 0;
  std::uint64_t arrivals_ = 0;
  std::map<std::string, std::pair<Job, std::shared_ptr<const api::GpuJob>>> waiting_;
  std::map<std::string, Held> held_;
  std::map<std::string, std::uint64_t> arrival_;
  std::map<std::string, base::WallTime> promised_;
  std::map<std::string, std::int64_t> started_;
  std::map<std::string, int> holders_;  // by node
  std::map<std::string, std::int64_t> yields_;
  std::map<std::string, std::shared_ptr<const api::GpuJob>> objects_;
  std::int64_t claims_ = 0;
};

}  // namespace gpupool::test
