// SPDX-License-Identifier: Apache-2.0
#include "planning/job/plan_claim.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/active_time.h"
#include "planning/job/job_status.h"
#include "planning/job/lease_changes.h"
#include "planning/job/node_loss.h"
#include "planning/job/plan_restart.h"
#include "planning/job/suspension.h"
#include "planning/nodes/lease_marks.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
namespace state = api::lease_state;
namespace phase = api::phase;

// Returns the status write after which the job has no claim. Its lost nodes keep the lease.
Step give_up(const Observation& seen, const api::Problem& why, const std::string& in_phase, bool warning) {
  auto status = seen.job.status;
  if (status.lease->lost.empty()) {
    status.lease.reset();
  } else {
    status.lease->nodes.clear();
    status.lease->turn.reset();
    status.lease->state = state::kReleasing;
    status.lease->outcome = api::outcome::kQueued;
    status.lease->since = seen.now;
  }
  status.phase = in_phase;
  status.reason = why.reason;
  status.message = why.message;
  if (in_phase == phase::kSuspended) reset_clock(status);
  settle_status(status, seen.job.metadata.generation, std::nullopt, seen.now);
  return step::WriteStatus{std::move(status), Note{warning, why.reason, why.message}};
}

bool names(const api::Lease& lease, const api::NodeRef& ref) {
  return std::ranges::any_of(lease.nodes,
                             [&](const auto& node) { return node.name == ref.name && node.uid == ref.uid; });
}

// Whether the claim waits for this job.
bool awaits(const api::Lease& claim, const std::string& uid) {
  return claim.turn && std::ranges::find(claim.turn->awaits, uid) != claim.turn->awaits.end();
}

// The jobs that still hold nodes of the lease, or had them before; their processes may still run there. Of
// slices, those that make room: others on the same nodes run on.
std::set<std::string> holders_of_nodes(const Observation& seen) {
  const auto& lease = *seen.job.status.lease;
  std::set<std::string> found;
  for (const auto& ref : lease.nodes) {
    for (const auto& holder : seen.holders(ref.name)) {
      const auto& uid = holder->metadata.uid;
      if (uid == seen.job.metadata.uid || awaits_others(holder->status)) continue;
      if (!lease.shared() || awaits(lease, uid)) found.insert(holder->metadata.key().to_string());
    }
    const auto node = seen.node(ref.name);
    if (node == nullptr || lease.shared()) continue;
    const auto mark = api::parse_lease_value(lease_taint(*node));
    if (mark && mark->job_uid != seen.job.metadata.uid) found.insert(node->metadata.annotation(api::kLease));
  }
  return found;
}

}  // namespace

Step begin_claim(const Observation& seen, api::GpuJobStatus status, const Verdict& verdict) {
  status.lease->turn->awaits = verdict.claim->awaits;
  status.lease->turn->awaits_until = verdict.claim->until;
  set_turn(status, verdict.turn);
  return advance(seen, std::move(status), state::kAwaiting, phase::kQueued, {verdict.reason, verdict.message},
                 Note{false, verdict.reason, verdict.message});
}

Step plan_awaiting(const Observation& seen) {
  const auto& job = seen.job;
  const auto& lease = *job.status.lease;
  if (job.metadata.deleting())
    return give_up(seen, {reason::kDeleted, "the job was deleted"}, phase::kQueued, false);
  if (auto why = suspension(seen)) return give_up(seen, *std::move(why), phase::kSuspended, false);
  const auto back = [&](const std::string& why, const std::string& text) {
    return give_up(seen, {why, text + "; the job waits at its old place"}, phase::kQueued, true);
  };
  if (api::spec_hash(job.spec) != lease.spec_hash)
    return back(reason::kSpecChanged, "the spec changed while other jobs made room");
  if (seen.pool == nullptr || seen.pool->metadata.deleting())
    return back(reason::kPoolStopping, "pool " + job.spec.pool + " is gone or is being deleted");
  if (const auto lost = lost_nodes(seen); !lost.empty())
    return back(reason::kNodeLost, "node " + join_names(lost) + " is gone or not ready");
  if (const auto closed = cordoned_nodes(seen); !closed.empty())
    return back(reason::kNodeCordoned, "node " + join_names(closed) + " is cordoned or drained");
  const auto holders = holders_of_nodes(seen);
  if (holders.empty()) {
    auto status = job.status;
    status.lease->turn->awaits.clear();
    status.lease->turn->awaits_until.reset();
    return begin_hold(seen, std::move(status));
  }
  const auto until = lease.turn ? lease.turn->awaits_until : std::nullopt;
  if (until && *until > seen.now)
    return step::Idle{std::chrono::duration_cast<base::Duration>(*until - seen.now)};
  return back(reason::kVictimStuck, "its nodes are still held by " + join_names(holders));
}

std::optional<Step> make_room(const Observation& seen) {
  const auto& job = seen.job;
  const auto& lease = *job.status.lease;
  if (!lease.turn) return std::nullopt;
  for (const auto& ref : lease.nodes) {
    for (const auto& other : seen.holders(ref.name)) {
      if (other->metadata.uid == job.metadata.uid || !awaits_others(other->status) ||
          !names(*other->status.lease, ref) || !awaits(*other->status.lease, job.metadata.uid))
        continue;
      if (!seen.live) return step::LookLive{};
      auto leaves = release(seen, api::outcome::kQueued,
                            {reason::kYielded, "makes room for " + other->metadata.key().to_string() +
                                                   "; the job goes on later; the attempt is not charged"},
                            false);
      auto& progress = std::get<step::WriteStatus>(leaves).status.progress;
      if (!progress) progress.emplace();
      ++progress->yields;
      return leaves;
    }
  }
  return std::nullopt;
}

}  // namespace gpupool::planning
