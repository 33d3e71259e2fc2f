// SPDX-License-Identifier: Apache-2.0
// Handles the loss of a node: only for one-GPU jobs, until they are deleted.
#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "bench/cluster/floor.h"

namespace gpupool::bench {

bool Floor::lost(const Life& life) const {
  if (!watch_nodes_ || life.stage != Stage::kRunning || life.nodes.size() != 1) return false;
  const auto node = nodes_.store().get({"", life.nodes[0].metadata.name});
  return node != nullptr && !node->ready();
}

// Writes the intent and takes the new node, which completes the move of the lease. No new worker is created,
// because nothing waits for it.
void Floor::move(Life& life, const std::stop_token& stop) {
  {
    const std::lock_guard lock(mutex_);
    auto& free = pools_[life.job.spec.pool].free;
    if (free.empty()) must<bool>(base::fail(base::ErrorCode::kNotFound, "none is free"), "move a lease");
    life.nodes.push_back(std::move(free.back()));
    free.pop_back();
  }
  const auto& before = life.nodes[0].metadata;
  const auto& after = life.nodes[1].metadata;
  auto status = life.job.status;
  status.lease_sequence = 2;
  status.lease->lost = {{before.name, before.uid, status.lease->id}};
  status.lease->id = api::LeaseValue{life.job.metadata.uid, 2}.to_string();
  status.lease->nodes = {{after.name, after.uid}};
  status.lease->attempt = 1;
  status.lease->state = api::lease_state::kRestarting;
  status.phase = api::phase::kRestarting;
  status.reason = api::reason::kNodeLost;
  status.message = "lost " + before.name;
  write_status(life.job, status, stop);
  mark(life.nodes[1], life.job, true, stop);
  life.stage = Stage::kDone;
}

// Gives back what a moved job still has.
void Floor::give_up(Life& life, const std::stop_token& stop) {
  if (life.nodes.empty()) return;
  kube::DeleteOptions options;
  options.uid = life.child_uid;
  const api::ObjectKey child{life.job.metadata.ns, life.job.metadata.name + "-1"};
  must(connection_.client().remove(api::BatchJob::kType, child, options, stop).map([](const std::string&) {
    return true;
  }),
       "delete the Job");
  for (auto& node : life.nodes) {
    node = must(kube::get<api::Node>(connection_.client(), node.metadata.key(), stop), "read a node");
    mark(node, life.job, false, stop);
    give_free_node(std::move(node));
  }
  for (const auto& pod : pods_.store().by_index("job", life.job.metadata.key().to_string())) {
    must(connection_.client().patch(api::Pod::kType, pod->metadata.key(), kube::PatchType::kJson,
                                    finalizer_off(api::kWorkerFinalizer), "", stop),
         "take the worker's finalizer off");
  }
  life.nodes.clear();
}

}  // namespace gpupool::bench
