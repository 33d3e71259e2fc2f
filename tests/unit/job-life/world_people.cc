// SPDX-License-Identifier: Apache-2.0
// What people and machines do in the world.
#include "api/core/workload.h"
#include "api/v1alpha1/names.h"
#include "planning/workers/assess_workers.h"
#include "tests/unit/job-life/world.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::test {

void World::lose_node(const std::string& name) {
  silent_.insert(name);
  not_ready_since[name] = now;
  nodes.at(name).status.conditions.back() = {"Ready", "Unknown", now};
}

void World::recover_node(const std::string& name) {
  silent_.erase(name);
  nodes.at(name).status.conditions.back() = {"Ready", "True", now};
}

void World::cordon_node(const std::string& name, bool cordoned) {
  nodes.at(name).spec.unschedulable = cordoned;
}

void World::drain_node(const std::string& name, const std::string& until) {
  nodes.at(name).metadata.annotations[api::kDrain] = until;
}

void World::end_drain(const std::string& name) { nodes.at(name).metadata.annotations.erase(api::kDrain); }

void World::ask_restart(const std::string& token) { job.metadata.annotations[api::kRestart] = token; }

void World::remove_node(const std::string& name) { nodes.erase(name); }

void World::delete_job() {
  job.metadata.deletion_timestamp = now;
  job_exists = !job.metadata.finalizers.empty();
}

void World::delete_pod(const std::string& name) {
  const auto found = pods.find(name);
  if (found == pods.end() || found->second->metadata.deleting()) return;
  found->second = test::share(deleted_now(*found->second));
}

void World::scale(std::int64_t replicas) {
  for (const auto& [key, child] : children) {
    if (child.type != &api::Service::kType) replicas_[child.uid] = replicas;
  }
  const auto before = pods;
  for (const auto& [name, pod] : before) {
    if (planning::rank_of(*pod) >= replicas) delete_pod(name);
  }
}

}  // namespace gpupool::test
