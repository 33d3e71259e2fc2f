// SPDX-License-Identifier: Apache-2.0
// Other jobs that hold nodes of the job of a World, or want them.
#pragma once

#include <memory>
#include <string>

#include "api/v1alpha1/gpu_job.h"
#include "tests/unit/job-life/world.h"

namespace gpupool::test {

// Another job whose lease is on node "a".
inline std::shared_ptr<api::GpuJob> neighbour(const World& world, const std::string& state) {
  auto job = std::make_shared<api::GpuJob>();
  job->metadata.ns = "other";
  job->metadata.name = "other";
  job->metadata.uid = "uid-of-other";
  job->status.lease.emplace();
  job->status.lease->id = "uid-of-other.1";
  job->status.lease->state = state;
  job->status.lease->nodes = {{"a", world.nodes.at("a").metadata.uid}};
  job->status.lease->turn.emplace();
  return job;
}

// The queue is one with tenants. Nothing is given to the job while another one claims its node.
inline void take_turns(World& world) {
  world.on_verdict = [&world](planning::Verdict& verdict) {
    if (!world.neighbours.empty()) verdict = {{}, api::reason::kWaitingForTurn, "waiting"};
    verdict.turn = api::JobQueueStatus{};
    verdict.turn->tenant = "t";
  };
}

// Another job waits for this one to make room.
inline void claim_node(World& world) {
  auto claimant = neighbour(world, api::lease_state::kAwaiting);
  claimant->status.lease->turn->awaits = {world.job.metadata.uid};
  world.neighbours = {claimant};
}

// The queue gives the job nodes that another job holds, which makes room within a minute.
inline void give_claim(World& world) {
  world.neighbours = {neighbour(world, api::lease_state::kRunning)};
  world.on_verdict = [&world](planning::Verdict& verdict) {
    verdict.turn = api::JobQueueStatus{};
    verdict.turn->tenant = "t";
    if (world.neighbours.empty()) return;
    verdict.reason = api::reason::kWaitingForYield;
    verdict.message = "1 job makes room for it: other/other";
    verdict.claim = planning::YieldClaim{{"uid-of-other"}, world.now + std::chrono::seconds(60)};
  };
}

}  // namespace gpupool::test
