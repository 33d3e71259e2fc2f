// SPDX-License-Identifier: Apache-2.0
// Prices in the world, and the audit of what the operator writes of them.
#include <algorithm>
#include <array>

#include "api/v1alpha1/names.h"
#include "tests/unit/job-life/world.h"

namespace gpupool::test {

void World::set_prices() {
  pool->spec.price = api::PoolPrice{"EUR", "2.50", {{"A", "1.000001"}}, 10, {}, {}};
  const std::array owners = {"alice", "bob"};
  auto owner = owners.begin();
  for (auto& [name, node] : nodes) {
    if (owner != owners.end()) node.metadata.labels[api::kOwnerLabel] = *owner++;
  }
  audit_.emplace();
  pace = std::chrono::seconds(5);  // so that a bill that is wrong is wrong by seconds
}

void World::stamp_ends(api::Pod& pod) const {
  for (auto& container : pod.status.container_statuses) {
    auto& end = container.state.terminated;
    if (end && !end->finished_at) end->finished_at = now;
  }
}

void World::note_status() {
  history.push_back(job.status);
  if (!audit_) return;
  BillAudit::Facts facts{now, std::nullopt, nullptr};
  std::optional<base::WallTime> last_end = base::WallTime();
  bool any = false;
  for (const auto& [name, pod] : pods) {
    if (!job.status.lease || pod->metadata.label(api::kLease) != job.status.lease->id) continue;
    any = true;
    const auto& created = *pod->metadata.creation_timestamp;
    if (!facts.first_pod || created < *facts.first_pod) facts.first_pod = created;
    const auto& end = pod->status.container_statuses.at(0).state.terminated;
    if (!end || !end->finished_at) {
      last_end.reset();
    } else if (last_end) {
      last_end = std::max(*last_end, *end->finished_at);
    }
  }
  if (!any) last_end.reset();
  facts.idle_since = [&](const std::string& node) {
    auto idle = last_end.value_or(now);
    if (const auto silent = not_ready_since.find(node); silent != not_ready_since.end())
      idle = std::min(idle, silent->second);
    return idle;
  };
  if (const auto wrong = audit_->look(job.status, facts); !wrong.empty())
    broken.push_back("the bill: " + wrong);
}

}  // namespace gpupool::test
