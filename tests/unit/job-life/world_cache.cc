// SPDX-License-Identifier: Apache-2.0
// What the operator's cache shows of the world's pods and children.
#include <algorithm>

#include "planning/workers/pod_end.h"
#include "tests/support/whole_queue.h"
#include "tests/unit/job-life/world.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::test {

void World::freeze_cache() { frozen_ = live(); }

void World::record() {
  if (lag) states_.push_back(live());
}

bool World::is_behind() const { return std::min(pods_shown_, children_shown_) + 1 < states_.size(); }

World::Cache World::cached() {
  if (frozen_) return *frozen_;
  if (!lag) return live();
  record();
  const auto catch_up = [&](std::size_t& shown) {
    while (shown + 1 < states_.size() && !lag()) ++shown;
  };
  catch_up(pods_shown_);
  catch_up(children_shown_);
  std::erase_if(created_children_, [&](const auto& made) { return made.second <= children_shown_; });
  return {states_[pods_shown_].pods, states_[children_shown_].children};
}

World::Cache World::live() const {
  Cache cache;
  for (const auto& [name, pod] : pods) cache.pods.push_back(pod);
  for (const auto& [key, child] : children) cache.children.push_back(child);
  return cache;
}

// What the queue answers.
std::map<api::ObjectKey, planning::Verdict> World::verdicts() const {
  if (pool->spec.sharing)
    return planning::plan_slices(*pool, shared_nodes(), test::line_of({test::share(job)}));
  return test::plan_queue(*pool, pool_nodes(), test::line_of({test::share(job)}));
}

std::vector<planning::PoolNode> World::pool_nodes() const {
  std::set<std::string> leased;
  if (job.status.lease) {
    for (const auto& node : job.status.lease->nodes) leased.insert(node.name);
    for (const auto& node : job.status.lease->lost) leased.insert(node.name);
  }
  std::vector<planning::PoolNode> described;
  for (const auto& [name, node] : nodes) {
    described.push_back(planning::describe_node(node, kGpus));
    if (leased.contains(name)) described.back().leased = true;
  }
  return described;
}

std::vector<planning::SharedNode> World::shared_nodes() const {
  std::vector<planning::SharedNode> described;
  for (const auto& [name, node] : nodes) {
    planning::Occupants occupants;
    for (const auto& [pod_name, pod] : pods) {
      if (pod->spec.node_name == name && !planning::has_ended(*pod))
        occupants.pods.push_back({"ns", pod_name, job.spec.slice->count.value_or(1)});
    }
    described.push_back(planning::describe_shared_node(node, &reports.at(name), *pool, occupants));
  }
  return described;
}

}  // namespace gpupool::test
