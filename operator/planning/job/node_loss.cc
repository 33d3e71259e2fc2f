// SPDX-License-Identifier: Apache-2.0
// Which nodes of a lease can go on, which a new attempt must leave, and which it waits for.
#include "planning/job/node_loss.h"

#include <algorithm>

#include "api/v1alpha1/lease_value.h"
#include "api/v1alpha1/names.h"
#include "planning/nodes/lease_marks.h"
#include "planning/nodes/node_drain.h"

namespace gpupool::planning {
namespace {

std::int64_t patience(const Observation& seen) {
  return seen.pool != nullptr ? seen.pool->spec.node_loss_timeout_seconds
                              : api::GpuPoolSpec{}.node_loss_timeout_seconds;
}

bool gone(const Observation& seen, const api::NodeRef& ref) {
  const auto node = seen.node(ref.name);
  return node == nullptr || node->metadata.uid != ref.uid;
}

// Returns the time until the node counts as lost: zero if it does now, nothing if it is ready. Counted by the
// operator itself, because time stamps on nodes come from other clocks.
std::optional<base::Duration> until_lost(const Observation& seen, const api::NodeRef& ref) {
  if (gone(seen, ref)) return base::Duration::zero();
  const auto node = seen.node(ref.name);
  if (node->ready_condition() == nullptr || node->ready()) return std::nullopt;
  const base::Duration limit = std::chrono::seconds(patience(seen));
  const auto so_far = seen.not_ready_for ? seen.not_ready_for(*node) : base::Duration::zero();
  return so_far >= limit ? base::Duration::zero() : limit - so_far;
}

bool cordoned(const Observation& seen, const api::NodeRef& ref) {
  const auto node = seen.node(ref.name);
  return node != nullptr && node->metadata.uid == ref.uid && (node->spec.unschedulable || drain_of(*node));
}

bool may_replace(const Observation& seen) {
  return seen.job.spec.node_replacement != api::node_replacement::kNever;
}

template <class Predicate>
std::set<std::string> nodes_that(const Observation& seen, const Predicate& holds) {
  std::set<std::string> names;
  for (const auto& ref : seen.job.status.lease->nodes) {
    if (holds(ref)) names.insert(ref.name);
  }
  return names;
}

}  // namespace

std::set<std::string> lost_nodes(const Observation& seen) {
  return nodes_that(seen, [&](const auto& ref) { return until_lost(seen, ref) == base::Duration::zero(); });
}

std::set<std::string> given_up_nodes(const Observation& seen) {
  if (may_replace(seen)) return lost_nodes(seen);
  return nodes_that(seen, [&](const auto& ref) { return gone(seen, ref); });
}

std::set<std::string> silent_nodes(const Observation& seen) {
  if (may_replace(seen)) return {};
  return lost_nodes(seen);
}

std::set<std::string> cordoned_nodes(const Observation& seen) {
  return nodes_that(seen, [&](const auto& ref) { return cordoned(seen, ref); });
}

std::set<std::string> nodes_to_leave(const Observation& seen) {
  auto names = given_up_nodes(seen);
  if (may_replace(seen)) names.merge(cordoned_nodes(seen));
  return names;
}

std::set<std::string> nodes_to_await(const Observation& seen) {
  if (may_replace(seen)) return {};
  auto names = silent_nodes(seen);
  names.merge(cordoned_nodes(seen));
  return names;
}

std::optional<base::Duration> until_next_loss(const Observation& seen) {
  std::optional<base::Duration> next;
  for (const auto& ref : seen.job.status.lease->nodes) {
    const auto left = until_lost(seen, ref);
    if (left && *left > base::Duration::zero() && (!next || *left < *next)) next = left;
  }
  return next;
}

std::optional<Step> restore_taints(const Observation& seen) {
  const auto& lease = seen.job.status.lease;
  if (!lease || lease->shared() || seen.blocked) return std::nullopt;
  step::TakeNodes take;
  const auto look_at = [&](const std::string& name, const std::string& uid) {
    const auto node = seen.node(name);
    if (node == nullptr || node->metadata.uid != uid || !lease_taint(*node).empty()) return;
    const auto label = node->metadata.label(api::kNodeLeaseLabel);
    const auto value = api::parse_lease_value(label);
    if (!value || value->job_uid != seen.job.metadata.uid) return;
    if (take.value.empty()) take.value = label;
    if (take.value == label) take.only.push_back({name, uid});
  };
  const bool waits =
      lease->state == api::lease_state::kRestarting || lease->state == api::lease_state::kReleasing;
  if (waits) {  // plan_held() and plan_running() check this themselves
    for (const auto& ref : lease->nodes) look_at(ref.name, ref.uid);
  }
  for (const auto& lost : lease->lost) look_at(lost.name, lost.uid);
  if (take.only.empty()) return std::nullopt;
  return take;
}

bool nodes_carry(const Observation& seen) {
  const auto& lease = *seen.job.status.lease;
  if (lease.shared()) return true;
  return std::all_of(lease.nodes.begin(), lease.nodes.end(), [&](const api::NodeRef& ref) {
    const auto node = seen.node(ref.name);
    return node != nullptr && node->metadata.uid == ref.uid && carries_lease(*node, lease.id);
  });
}

}  // namespace gpupool::planning
