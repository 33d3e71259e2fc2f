// Which nodes of a lease can go on, which a new attempt must leave, and which it waits for.
#include <algorithm>

#include "planning/job_plan_steps.h"
#include "planning/node_gpus.h"

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

// Zero: the node is lost. Nothing: it is well. By the operator's own count of seconds: stamps on nodes are
// of others' clocks.
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
  return node != nullptr && node->metadata.uid == ref.uid && node->spec.unschedulable;
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

bool nodes_carry(const Observation& seen) {
  const auto& lease = *seen.job.status.lease;
  if (lease.shared()) return true;
  return std::all_of(lease.nodes.begin(), lease.nodes.end(), [&](const api::NodeRef& ref) {
    const auto node = seen.node(ref.name);
    return node != nullptr && node->metadata.uid == ref.uid && carries_lease(*node, lease.id);
  });
}

}  // namespace gpupool::planning
