#include <algorithm>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/assess_workers.h"
#include "planning/job_plan_steps.h"
#include "planning/job_status.h"

namespace gpupool::planning {
namespace {

namespace outcome = api::outcome;
namespace phase = api::phase;

bool node_is_gone(const Observation& seen, const api::Pod& pod) {
  return !pod.spec.node_name.empty() && seen.node(pod.spec.node_name) == nullptr;
}

bool is_over(const Observation& seen, const api::Pod& pod) {
  if (has_ended(pod) || node_is_gone(seen, pod)) return true;
  const auto node = pod.spec.node_name.empty() ? nullptr : seen.node(pod.spec.node_name);
  if (node == nullptr || !pod.metadata.deleting() || !never_began(pod, *node)) return false;
  const auto waited = seen.unconfirmed_for(pod, node->ready());  // counts from the deletion, not from grace 0
  return is_unconfirmed(pod) && waited >= kNeverBegan;
}

bool on_lost_node(const Observation& seen, const api::Pod& pod) {
  const auto& lease = seen.job.status.lease;
  return lease && std::any_of(lease->lost.begin(), lease->lost.end(),
                              [&](const api::LostNode& lost) { return lost.name == pod.spec.node_name; });
}

// It was left while it works, or is back: its old workers end in their grace, and are waited for.
bool answers(const Observation& seen, const std::string& name) {
  const auto node = seen.node(name);
  return node != nullptr && node->ready();
}

constexpr auto kSettleTime = std::chrono::seconds(3);

// Pods whose kubelet is busy restarting them are left alone for a moment; so is what owns them.
bool should_settle(const Observation& seen, const std::string& keep) {
  const auto& lease = seen.job.status.lease;
  if (!lease || !lease->since || seen.now >= *lease->since + kSettleTime) return false;
  return std::any_of(seen.pods.begin(), seen.pods.end(), [&](const auto& pod) {
    return pod->metadata.label(api::kLease) != keep && is_between_runs(*pod);
  });
}

// A kubelet of 1.20 that is told to end a pod while it restarts a container forgets the new one until it
// next looks at all its pods, a minute later; a change of the pod reminds it.
constexpr auto kForgotten = std::chrono::seconds(3);
constexpr auto kHopeless = std::chrono::minutes(2);
// A kubelet that is there needs less to confirm a deletion.
constexpr auto kForced = std::chrono::seconds(10);

bool is_forgotten(const Observation& seen, const api::Pod& pod) {
  if (!pod.metadata.deletion_timestamp || has_ended(pod)) return false;
  const auto overdue = seen.now - *pod.metadata.deletion_timestamp;
  if (overdue < kForgotten || overdue > kHopeless) return false;
  const auto node = seen.node(pod.spec.node_name);
  return node != nullptr && node->ready();
}

// What the job becomes when its nodes are free.
api::GpuJobStatus after_release(const Observation& seen, api::GpuJobStatus status) {
  const auto ended = status.lease->outcome;
  if (ended == outcome::kSucceeded) {
    status.phase = phase::kSucceeded;
  } else if (ended == outcome::kFailed) {
    status.phase = phase::kFailed;
  } else if (ended == outcome::kSuspended) {
    status.phase = phase::kSuspended;
    status.start_time.reset();
  } else {
    status.phase = phase::kQueued;
  }
  const auto views = status.workers;
  status.workers = {views.total, 0, ended == outcome::kSucceeded ? views.total : 0};
  if (status.lease->lost.empty()) {
    status.lease.reset();
  } else {
    status.lease->nodes.clear();  // the lost ones keep it
  }
  std::optional<Problem> stalled;
  if (ended == outcome::kQueued && api::is_true(seen.job.status.conditions, "Stalled")) {
    stalled = Problem{status.reason, status.message};
  }
  settle_status(status, seen.job.metadata.generation, stalled, seen.now);
  return status;
}

// Nodes of the lease where a worker that has to end does not: the node is silent; or, for long, the kubelet
// has not confirmed that a deleted pod is over, because it cannot or because somebody deleted it by force.
struct Stuck {
  std::set<std::string> silent;
  std::set<std::string> unconfirmed;
};

Stuck stuck_nodes(const Observation& seen, const std::string& keep) {
  Stuck stuck;
  const auto lost = lost_nodes(seen);
  const auto& held = seen.job.status.lease->nodes;
  for (const auto& pod : seen.pods) {
    const auto& name = pod->spec.node_name;
    if (pod->metadata.label(api::kLease) == keep || is_over(seen, *pod)) continue;
    if (std::none_of(held.begin(), held.end(), [&](const auto& ref) { return ref.name == name; })) continue;
    const auto node = seen.node(name);
    if (lost.contains(name) && node != nullptr && !node->ready()) {
      stuck.silent.insert(name);
    } else if (pod->metadata.deletion_timestamp && seen.now > *pod->metadata.deletion_timestamp + kHopeless) {
      stuck.unconfirmed.insert(name);
    }
  }
  return stuck;
}

std::string text_of(const Stuck& stuck) {
  std::string text;
  if (!stuck.silent.empty()) text = "lost " + join_names(stuck.silent) + " while a worker ended there";
  if (stuck.unconfirmed.empty()) return text;
  return text + (text.empty() ? "" : "; ") + "left " + join_names(stuck.unconfirmed) +
         ": its kubelet has not confirmed that a deleted worker is over; it stays marked until it does, or "
         "until its Node object is deleted";
}

// They hold up no other.
std::optional<Step> leave_stuck(const Observation& seen) {
  const auto stuck = stuck_nodes(seen, "");
  auto names = stuck.silent;
  names.insert(stuck.unconfirmed.begin(), stuck.unconfirmed.end());
  if (names.empty()) return std::nullopt;
  if (!seen.live) return step::LookLive{};
  auto status = seen.job.status;
  keep_as_lost(seen, names, *status.lease);
  std::erase_if(status.lease->nodes, [&](const auto& node) { return names.contains(node.name); });
  if (status.lease->nodes.empty()) status = after_release(seen, std::move(status));
  settle_status(status, seen.job.metadata.generation, std::nullopt, seen.now);
  return step::WriteStatus{std::move(status), Note{true, api::reason::kNodeLost, text_of(stuck)}};
}

// Only our finalizer holds the job, and nothing is left for which it should.
bool goes_with_its_nodes(const api::GpuJob& job) {
  return job.metadata.deleting() && job.status.lease->lost.empty() &&
         job.metadata.finalizers == std::vector<std::string>{api::kLease};
}

// Whoever made the pod is not in the cache, but may be there. Deleted first, the pod would only be made anew.
bool maker_is_unseen(const Observation& seen, const api::Pod& pod) {
  if (seen.live || !seen.job.status.lease || seen.maker_deleted(pod)) return false;
  return std::none_of(seen.children.begin(), seen.children.end(),
                      [&](const Child& child) { return child.uid == pod.metadata.controller_uid(); });
}

// A controller that has yet to see that its StatefulSet or Job is deleted makes a pod anew as soon as the old
// one is gone. So a pod stays, by our finalizer, until its maker is gone from the cache and no node carries
// its lease: what is made then finds no place.
bool may_go(const Observation& seen, const api::Pod& pod) {
  const auto id = pod.metadata.label(api::kLease);
  const bool made = std::any_of(seen.children.begin(), seen.children.end(),
                                [&](const Child& child) { return child.lease_id == id && !child.deleting; });
  const auto& lease = seen.job.status.lease;
  return !made && (!lease || std::none_of(lease->nodes.begin(), lease->nodes.end(), [&](const auto& ref) {
    const auto node = seen.node(ref.name);
    return node != nullptr && node->metadata.label(api::kNodeLeaseLabel) == id;
  }));
}

// The nodes are free of our marks, the pods of our finalizer, and then the status says so.
step::FreeNodes give_back(const Observation& seen, std::optional<Note> note) {
  const auto& lease = *seen.job.status.lease;
  return {lease.shared() ? std::vector<api::NodeRef>() : lease.nodes,
          ended_pods(seen, ""),
          {after_release(seen, seen.job.status), std::move(note)},
          goes_with_its_nodes(seen.job)};
}

// The only worker has succeeded: its Job goes, the node, and only then the pod. Nothing if it is not so.
std::optional<Step> end_after_success(const Observation& seen) {
  if (!sole_success(seen.pods, *seen.job.status.lease)) return std::nullopt;
  if (!seen.children.empty()) {
    const bool goes = std::any_of(seen.children.begin(), seen.children.end(),
                                  [](const Child& child) { return child.deleting; });
    if (goes) return std::nullopt;
    step::DropWorkers drop;
    drop.children = seen.children;
    drop.waits = false;
    return drop;
  }
  return give_back(seen, std::nullopt);  // that it succeeded was told a moment ago
}

}  // namespace

Pods ended_pods(const Observation& seen, const std::string& keep) {
  Pods ended;
  std::copy_if(seen.pods.begin(), seen.pods.end(), std::back_inserter(ended), [&](const auto& pod) {
    return pod->metadata.label(api::kLease) != keep && is_over(seen, *pod) &&
           pod->metadata.has_finalizer(api::kWorkerFinalizer);
  });
  return ended;
}

std::optional<Step> drop_stale_workers(const Observation& seen, const std::string& keep) {
  if (should_settle(seen, keep)) return step::Idle{std::chrono::milliseconds(500)};
  step::DropWorkers drop;
  for (const auto& child : seen.children) {
    if (child.lease_id != keep && !child.deleting) drop.children.push_back(child);
  }
  for (const auto& pod : seen.pods) {
    if (pod->metadata.label(api::kLease) == keep) continue;
    if (!pod->metadata.deleting() && maker_is_unseen(seen, *pod)) return step::LookLive{};
    if (!pod->metadata.deleting()) drop.pods_to_delete.push_back({pod, has_result(*pod)});
    if (is_forgotten(seen, *pod)) drop.pods_to_nudge.push_back(pod);
  }
  drop.let_go = ended_pods(seen, keep);
  std::erase_if(drop.let_go, [&](const auto& pod) { return !may_go(seen, *pod); });
  if (drop.children.empty() && drop.pods_to_delete.empty() && drop.let_go.empty() &&
      drop.pods_to_nudge.empty())
    return std::nullopt;
  return drop;
}

std::optional<Step> drop_before_queue(const Observation& seen) {
  auto drop = seen.dropped ? std::nullopt : drop_stale_workers(seen, "");
  if (!drop) return std::nullopt;
  if (auto* workers = std::get_if<step::DropWorkers>(&*drop)) workers->waits = false;
  return drop;
}

bool stale_workers_run(const Observation& seen, const std::string& keep) {
  // One that is being deleted makes nothing any more; in the foreground it waits for its pods.
  const bool child = std::any_of(seen.children.begin(), seen.children.end(), [&](const Child& candidate) {
    return candidate.lease_id != keep && !candidate.deleting;
  });
  return child || std::any_of(seen.pods.begin(), seen.pods.end(), [&](const auto& pod) {
           if (pod->metadata.label(api::kLease) == keep || is_over(seen, *pod)) return false;
           const bool starts = !keep.empty();  // attempts must not meet, if that can be helped
           return !on_lost_node(seen, *pod) || (starts && answers(seen, pod->spec.node_name));
         });
}

std::optional<Step> leave_stuck_nodes(const Observation& seen) {
  const auto stuck = stuck_nodes(seen, seen.job.status.lease->id);
  if (stuck.unconfirmed.empty()) return std::nullopt;
  if (!seen.live) return step::LookLive{};
  return restart_without(seen, seen.job.status, stuck.unconfirmed, {api::reason::kNodeLost, text_of(stuck)});
}

Step await_kubelets(const Observation& seen) {
  base::Duration after = std::chrono::seconds(5);
  if (const auto loss = until_next_loss(seen)) after = std::min(after, *loss);
  const auto forced = std::find_if(seen.pods.begin(), seen.pods.end(), [&](const auto& pod) {
    return is_unconfirmed(*pod) && pod->metadata.deletion_timestamp &&
           seen.now > *pod->metadata.deletion_timestamp + kForced;
  });
  if (forced == seen.pods.end()) return step::Idle{after};
  // Reason and message stay: they may be the outcome.
  auto status = seen.job.status;
  api::Condition condition;
  condition.type = "Reconciling";
  condition.status = "True";
  condition.observed_generation = seen.job.metadata.generation;
  condition.reason = api::reason::kDeletedByForce;
  condition.message =
      "pod " + (*forced)->metadata.name + " was deleted without grace, and the kubelet of node " +
      (*forced)->spec.node_name +
      " has not confirmed that its processes have ended; the node stays marked until it does, or "
      "until its Node object is deleted";
  const auto text = condition.message.string();
  api::set_condition(status.conditions, std::move(condition), seen.now);
  if (status == seen.job.status) return step::Idle{after};
  return step::WriteStatus{std::move(status), Note{true, api::reason::kDeletedByForce, text}};
}

Step plan_releasing(const Observation& seen) {
  if (auto left = leave_stuck(seen)) return *std::move(left);
  if (auto end = end_after_success(seen)) return *std::move(end);
  if (auto drop = drop_stale_workers(seen, "")) return *std::move(drop);
  if (stale_workers_run(seen, "")) return await_kubelets(seen);
  if (!seen.live && !seen.end_shown) return step::LookLive{};
  if (goes_with_its_nodes(seen.job)) return give_back(seen, std::nullopt);  // told by its going
  const auto& lease = *seen.job.status.lease;
  return give_back(seen, Note{false, lease.shared() ? "SlicesReleased" : "NodesReleased",
                              "gave back " + summarize_nodes(lease.nodes)});
}

std::optional<Step> plan_lost_nodes(const Observation& seen) {
  const auto& lease = seen.job.status.lease;
  if (!lease || lease->lost.empty()) return std::nullopt;
  const bool releasing = lease->state == api::lease_state::kReleasing;
  const bool queued = !holds_nodes(seen.job.status);
  if (auto drop = queued ? drop_before_queue(seen) : drop_stale_workers(seen, releasing ? "" : lease->id))
    return drop;
  for (const auto& lost : lease->lost) {
    const auto node = seen.node(lost.name);
    const bool gone = node == nullptr || node->metadata.uid != lost.uid;
    const bool runs = std::any_of(seen.pods.begin(), seen.pods.end(), [&](const auto& pod) {
      return pod->metadata.label(api::kLease) == lost.id && pod->spec.node_name == lost.name &&
             !is_over(seen, *pod);
    });
    if (!gone && (runs || !node->ready())) continue;
    if (!seen.live) return step::LookLive{};
    auto status = seen.job.status;
    std::erase(status.lease->lost, lost);
    if (releasing && status.lease->nodes.empty() && status.lease->lost.empty()) status.lease.reset();
    std::vector<api::NodeRef> nodes;
    if (!gone && !lease->shared()) nodes.push_back({lost.name, lost.uid});
    return step::FreeNodes{
        std::move(nodes),
        {},
        {std::move(status), Note{false, "LostNodeResolved", "nothing runs any more on " + lost.name}}};
  }
  return std::nullopt;
}

}  // namespace gpupool::planning
