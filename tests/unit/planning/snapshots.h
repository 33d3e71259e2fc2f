// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "planning/forecast/snapshot.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::test {

// Builds the snapshot of a queue: jobs that hold nodes, jobs that wait, and the asker, who is the last.
class SnapshotBuilder {
 public:
  explicit SnapshotBuilder(api::GpuPool pool)
      : pool_(std::make_shared<const api::GpuPool>(std::move(pool))) {}

  // A job that began at this second.
  void hold(api::GpuJob job, const std::vector<std::string>& on, std::int64_t began = 0,
            std::int64_t slices = 0) {
    job.status.start_time = at(began);
    job.status.lease = make_lease(job, api::lease_state::kRunning, on);
    job.status.lease->slices = slices;
    for (auto& ref : job.status.lease->nodes) ref.workers = slices > 0 ? 1 : 0;
    auto refs = job.status.lease->nodes;
    for (auto& node : nodes) {
      for (const auto& ref : refs) node.leased = node.leased || node.name == ref.name;
    }
    for (auto& node : shared) {
      for (const auto& ref : refs) {
        if (node.node.name == ref.name) planning::add_claim(node, slices);
      }
    }
    holders.push_back({share(std::move(job)), std::move(refs), slices});
  }

  planning::QueueSnapshot build(const std::vector<api::GpuJob>& ahead, api::GpuJob asker) const {
    planning::QueueSnapshot seen;
    seen.pool = pool_;
    seen.nodes = nodes;
    seen.shared = shared;
    seen.holders = holders;
    seen.ahead = ahead.size();
    seen.asker = asker.metadata.key();
    seen.line = planning::WaitingLine(pool_->spec.worker_resource(), pool_->spec.near);
    std::uint64_t arrival = 0;
    for (const auto& job : ahead) seen.line.put(share(job), ++arrival);
    seen.line.put(share(std::move(asker)), ++arrival);
    return seen;
  }

  std::vector<planning::PoolNode> nodes;
  std::vector<planning::SharedNode> shared;
  std::vector<planning::Holder> holders;

 private:
  std::shared_ptr<const api::GpuPool> pool_;
};

inline api::GpuJob make_waiting(const std::string& name, std::int64_t gpus,
                                std::optional<std::int64_t> deadline = std::nullopt) {
  auto job = make_job(name, gpus);
  job.metadata.uid = "uid-" + name;
  job.metadata.creation_timestamp = at(0);
  job.spec.active_deadline_seconds = deadline;
  job.status.phase = api::phase::kQueued;
  job.status.reason = "WaitingForNodes";
  return job;
}

// A job like `job` that ran this long.
inline api::GpuJob ended_job(api::GpuJob job, std::int64_t seconds) {
  job.status.phase = api::phase::kSucceeded;
  job.status.start_time = at(0);
  job.status.completion_time = at(seconds);
  return job;
}

// A member of a sharing pool with one GPU that is cut into ten slices.
inline planning::SharedNode make_shared_node(const std::string& name, const api::GpuPool& pool) {
  const auto report = make_report(name, 1);
  auto node = planning::describe_shared_node(make_shared_member(name, 10), &report, pool, {});
  return node;
}

}  // namespace gpupool::test
