// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planning/queue/pool_state.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::test {

// A pool with spec.queue on a clock that the test moves. Jobs take what the queue gives them at once, and end
// when the test says it, or at their time.
class TurnWorld {
 public:
  TurnWorld(api::PoolQueueSpec queue, std::size_t nodes, std::int64_t gpus = 1);

  struct Job {
    std::string ns = "ns";
    std::int64_t workers = 1;
    std::int64_t deadline = 0;  // 0: none
    std::int64_t runs = 0;      // seconds that it holds its nodes; 0: until end()
    std::int64_t priority = 0;
  };
  // Puts a job into the queue and lets the queue decide.
  void submit(const std::string& name, const Job& job);
  void end(const std::string& name);
  void leave(const std::string& name);  // the queue
  // Moves the clock; jobs end at their time.
  void advance(std::int64_t seconds);
  std::int64_t now() const { return now_; }

  bool runs(const std::string& name) const { return held_.contains(name); }
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

 private:
  struct Held {
    api::ObjectKey key;
    std::vector<std::string> nodes;
    std::int64_t ends = 0;
  };
  void decide();
  bool take_one();
  void tell();

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
};

}  // namespace gpupool::test
