// SPDX-License-Identifier: Apache-2.0
#include "planning/job/plan_drain.h"

#include <algorithm>

#include "api/v1alpha1/reasons.h"
#include "base/rfc3339.h"
#include "planning/job/lease_changes.h"
#include "planning/job/plan_restart.h"
#include "planning/nodes/node_drain.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;

// Free nodes are not announced to jobs that hold some.
constexpr base::Duration kLookAgain = std::chrono::seconds(5);

std::optional<NodeDrain> drain_of_ref(const Observation& seen, const api::NodeRef& ref) {
  const auto node = seen.node(ref.name);
  if (node == nullptr || node->metadata.uid != ref.uid) return std::nullopt;
  return drain_of(*node);
}

// The earliest deadline of the drains; nothing if they have none.
std::optional<base::WallTime> deadline_of(const Observation& seen) {
  std::optional<base::WallTime> earliest;
  for (const auto& ref : seen.job.status.lease->nodes) {
    const auto drain = drain_of_ref(seen, ref);
    if (!drain || !drain->deadline) continue;
    if (!earliest || *drain->deadline < *earliest) earliest = drain->deadline;
  }
  return earliest;
}

// The nodes of a shared lease are not replaced one by one: the job is placed as a whole.
bool may_move(const Observation& seen) {
  return !seen.job.status.lease->shared() && seen.job.spec.node_replacement != api::node_replacement::kNever;
}

// A job that cannot move leaves at once if there is no deadline: else it would never leave.
bool must_leave(const Observation& seen) {
  const auto deadline = deadline_of(seen);
  return deadline ? *deadline <= seen.now : !may_move(seen);
}

Step yield(const Observation& seen, const std::set<std::string>& drained) {
  if (!seen.live) return step::LookLive{};
  return release(
      seen, api::outcome::kQueued,
      {reason::kDraining,
       "node " + join_names(drained) + " is drained; the job waits in the queue; the attempt is not charged"},
      false);
}

}  // namespace

std::set<std::string> drained_nodes(const Observation& seen) {
  std::set<std::string> names;
  for (const auto& ref : seen.job.status.lease->nodes) {
    if (drain_of_ref(seen, ref)) names.insert(ref.name);
  }
  return names;
}

std::optional<Step> leave_drained_nodes(const Observation& seen) {
  const auto drained = drained_nodes(seen);
  if (drained.empty()) return std::nullopt;
  if (may_move(seen)) {
    std::vector<std::string> kept;
    for (const auto& node : seen.job.status.lease->nodes) {
      if (!drained.contains(node.name)) kept.push_back(node.name);
    }
    if (!seen.replacement || seen.replacement->kept != kept) return step::ReplaceNodes{std::move(kept)};
    if (!seen.replacement->nodes.empty()) {
      if (!seen.live) return step::LookLive{};
      return restart_without(
          seen, seen.job.status, drained,
          {reason::kDraining, "node " + join_names(drained) + " is drained; the attempt is not charged"});
    }
  }
  if (!must_leave(seen)) return std::nullopt;
  return yield(seen, drained);
}

std::optional<Step> yield_drained_nodes(const Observation& seen) {
  if (seen.job.spec.node_replacement != api::node_replacement::kNever) return std::nullopt;
  const auto drained = drained_nodes(seen);
  if (drained.empty() || !must_leave(seen)) return std::nullopt;
  return yield(seen, drained);
}

std::string drain_text(const Observation& seen) {
  const auto drained = drained_nodes(seen);
  if (drained.empty()) return {};
  const auto deadline = deadline_of(seen);
  std::string text = "node " + join_names(drained) + " is drained; the job runs on it until ";
  if (may_move(seen)) text += "another node is free";
  if (deadline) text += (may_move(seen) ? ", at most until " : "") + base::to_rfc3339(*deadline);
  return text;
}

std::optional<base::Duration> until_drain_changes(const Observation& seen) {
  if (drained_nodes(seen).empty()) return std::nullopt;
  auto left = may_move(seen) ? kLookAgain : base::Duration::max();
  if (const auto deadline = deadline_of(seen))
    left = std::min(left, std::max(base::Duration::zero(),
                                   std::chrono::duration_cast<base::Duration>(*deadline - seen.now)));
  return left;
}

}  // namespace gpupool::planning
