// SPDX-License-Identifier: Apache-2.0
// Starts the next attempt: on the same nodes, on others, or through the queue.
#include "planning/job/plan_restart.h"

#include <algorithm>
#include <iterator>

#include "api/v1alpha1/reasons.h"
#include "base/join.h"
#include "planning/job/active_time.h"
#include "planning/job/job_status.h"
#include "planning/job/lease_changes.h"
#include "planning/job/node_loss.h"
#include "planning/job/plan_drain.h"
#include "planning/nodes/lease_marks.h"
#include "planning/workers/manifests.h"
#include "planning/workers/pod_end.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
namespace state = api::lease_state;
namespace phase = api::phase;

// Backoff between attempts that are lost soon after they began: 2, 4, 8, ... at most this many seconds from
// one start to the next. Nothing else limits attempts that are not charged.
constexpr std::int64_t kLongestPause = 300;
constexpr std::int64_t kMaxDoublings = 8;

base::Boxed<base::WallTime> next_start(const Observation& seen, const api::GpuJobStatus& status) {
  const auto& lease = *seen.job.status.lease;
  if (lease.state != state::kRunning || !lease.since) return {};
  const auto uncharged = std::clamp<std::int64_t>(status.attempts - status.failures, 1, kMaxDoublings + 1);
  const auto pause = std::min(kLongestPause, std::int64_t{1} << uncharged);
  // A time stamp in the future, from another clock, must not make the pause longer.
  const auto start = std::min(*lease.since, seen.now) + std::chrono::seconds(pause);
  return start > seen.now ? base::Boxed<base::WallTime>(start) : base::Boxed<base::WallTime>();
}

// Writes the outcome of this attempt together with the value of the next one, so that an outcome is judged
// only once. In Restarting the number of the next attempt does not change again.
Step next_attempt(const Observation& seen, api::GpuJobStatus status, const api::Problem& why) {
  auto& lease = *status.lease;
  if (why.reason == reason::kWorkerLost || why.reason == reason::kYielded)
    lease.not_before = next_start(seen, status);
  if (lease.state != state::kRestarting) ++lease.attempt;
  ++status.lease_sequence;
  lease.id = api::LeaseValue{seen.job.metadata.uid, status.lease_sequence}.to_string();
  status.node_names = summarize_nodes(lease.nodes);
  status.master = master_address(seen.job, lease.id);
  status.workers = {};
  lease.workload.clear();
  return advance(seen, std::move(status), state::kRestarting, phase::kRestarting, why,
                 Note{true, why.reason, why.message});
}

// Returns the value of this job's lease on the node. It may be the old one while nodes are being changed to a
// new value.
std::optional<std::string> own_mark(const Observation& seen, const std::string& name) {
  const auto node = seen.node(name);
  const auto value = node != nullptr ? api::parse_lease_value(lease_taint(*node)) : std::nullopt;
  const bool ours = value && value->job_uid == seen.job.metadata.uid;
  return ours ? std::optional(value->to_string()) : std::nullopt;
}

// True if the crash that caused this restart may follow from the loss of these nodes: a pod of the crashed
// attempt has not ended there.
bool explains_crash(const Observation& seen, const std::set<std::string>& lost) {
  const auto& status = seen.job.status;
  if (status.lease->state != state::kRestarting || status.reason != reason::kWorkerFailed) return false;
  return std::any_of(seen.pods.begin(), seen.pods.end(),
                     [&](const auto& pod) { return lost.contains(pod->spec.node_name) && !has_ended(*pod); });
}

// A node that the job held already keeps its time.
std::vector<api::NodeRef> with_times(std::vector<api::NodeRef> nodes, const std::vector<api::NodeRef>& held,
                                     base::WallTime now) {
  for (auto& node : nodes) {
    const auto before = std::ranges::find(held, node.name, &api::NodeRef::name);
    node.since = before == held.end() ? std::optional(now) : before->since;
  }
  return nodes;
}

}  // namespace

void keep_as_lost(const Observation& seen, const std::set<std::string>& names, api::Lease& lease) {
  for (const auto& node : lease.nodes) {
    if (!names.contains(node.name)) continue;
    lease.lost.push_back(
        {node.name, node.uid, own_mark(seen, node.name).value_or(seen.job.status.lease->id)});
  }
}

std::string join_names(const std::set<std::string>& names) {
  auto text = base::join(names, ",");
  constexpr std::size_t kLongest = 200;
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + ",...";
}

Step restart(const Observation& seen, api::GpuJobStatus status, const api::Problem& why) {
  const auto leaving = nodes_to_leave(seen);
  if (leaving.empty()) return next_attempt(seen, std::move(status), why);
  return restart_without(seen, std::move(status), leaving, why);
}

Step restart_without(const Observation& seen, api::GpuJobStatus status, const std::set<std::string>& leaving,
                     const api::Problem& why) {
  auto& lease = *status.lease;
  if (lease.state == state::kHeld) status.attempts = lease.attempt + 1;  // its workers may have started
  std::vector<std::string> kept;
  for (const auto& node : lease.nodes) {
    if (!leaving.contains(node.name)) kept.push_back(node.name);
  }
  // The nodes of a shared lease are not replaced one by one: the job is queued with its age and placed as a
  // whole.
  if (!lease.shared() && seen.job.spec.node_replacement != api::node_replacement::kNever) {
    if (!seen.replacement || seen.replacement->kept != kept) return step::ReplaceNodes{std::move(kept)};
    if (!seen.replacement->nodes.empty()) {
      keep_as_lost(seen, leaving, lease);
      lease.nodes = with_times(seen.replacement->nodes, lease.nodes, seen.now);
      return next_attempt(seen, std::move(status), why);
    }
  }
  const auto lost = given_up_nodes(seen);
  keep_as_lost(seen, lost, lease);
  std::erase_if(lease.nodes, [&](const api::NodeRef& node) { return lost.contains(node.name); });
  lease.outcome = api::outcome::kQueued;
  if (lease.nodes.empty()) stop_clock(status, seen.now);  // it waits in the queue already
  return advance(seen, std::move(status), state::kReleasing, phase::kReleasing, why,
                 Note{true, why.reason, why.message});
}

std::optional<Step> leave_nodes(const Observation& seen) {
  const auto lost = given_up_nodes(seen);
  const auto leaving = nodes_to_leave(seen);
  if (leaving.empty()) return std::nullopt;
  if (!seen.live) return step::LookLive{};
  const auto drained = drained_nodes(seen);
  if (lost.empty() && !drained.empty()) {
    return restart_without(seen, seen.job.status, leaving,
                           {reason::kDraining, "node " + join_names(leaving) + " is drained"});
  }
  if (lost.empty()) {
    return restart_without(seen, seen.job.status, leaving,
                           {reason::kNodeCordoned, "node " + join_names(leaving) + " was cordoned"});
  }
  auto status = seen.job.status;
  const bool refund = explains_crash(seen, lost);
  if (refund) --status.failures;
  return restart_without(seen, std::move(status), leaving,
                         {reason::kNodeLost, "lost " + join_names(lost) + "; the attempt is not charged" +
                                                 (refund ? ", nor is the crash that came before it" : "")});
}

std::optional<Step> take_new_nodes(const Observation& seen) {
  const auto& lease = seen.job.status.lease;
  if (!lease || lease->shared() || lease->state != state::kRestarting || seen.nodes_taken)
    return std::nullopt;
  step::TakeNodes take;
  std::copy_if(lease->nodes.begin(), lease->nodes.end(), std::back_inserter(take.only),
               [&](const api::NodeRef& ref) { return !own_mark(seen, ref.name); });
  if (take.only.empty() || seen.job.metadata.deleting() || interrupt_before_workers(seen))
    return std::nullopt;
  if (!nodes_to_leave(seen).empty()) return std::nullopt;
  return take;
}

std::optional<Step> await_nodes(const Observation& seen, const std::set<std::string>& names) {
  if (names.empty()) return std::nullopt;
  auto status = seen.job.status;
  const api::Problem why{
      reason::kWaitingForLostNode,
      "waits for " + join_names(names) + " to be ready again; spec.nodeReplacement is Never"};
  const bool news = status.reason != why.reason;
  status.reason = why.reason;
  status.message = why.message;
  settle_status(status, seen.job.metadata.generation, std::nullopt, seen.now);
  if (status != seen.job.status) {
    return step::WriteStatus{std::move(status),
                             news ? std::optional<Note>({true, why.reason, why.message}) : std::nullopt};
  }
  return step::Idle{time_left(seen, status.start_time, seen.job.spec.active_deadline_seconds)};
}

}  // namespace gpupool::planning
