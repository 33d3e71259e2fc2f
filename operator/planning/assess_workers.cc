#include "planning/assess_workers.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "api/v1alpha1/names.h"
#include "planning/worker_result.h"

namespace gpupool::planning {
namespace {

constexpr std::int64_t kSigkillExit = 137;
constexpr std::int64_t kSigtermExit = 143;

// What containerd and the kubelet call the end of a container that nobody saw: its node went down.
bool unseen(const api::ContainerTerminated& last) {
  return last.reason == "Unknown" || last.reason == "ContainerStatusUnknown";
}

const api::ContainerStatus* find_container(const std::vector<api::ContainerStatus>& statuses,
                                           const std::string& name) {
  for (const auto& status : statuses) {
    if (status.name == name) return &status;
  }
  return nullptr;
}

// What the worker container left behind, whether seen before or after the kubelet restarted it.
struct Evidence {
  const api::ContainerTerminated* last = nullptr;  // its most recent end
  std::optional<WorkerResult> result;
};

Evidence evidence_of(const api::ContainerStatus* worker) {
  Evidence evidence;
  if (worker == nullptr) return evidence;
  for (const auto* state : {&worker->state, &worker->last_state}) {
    if (!state->terminated) continue;
    if (evidence.last == nullptr) evidence.last = &*state->terminated;
    if (!evidence.result) evidence.result = parse_worker_result(state->terminated->message);
  }
  return evidence;
}

// Empty, or what took the pod away; design section 5.5: looked at before any exit code.
std::string disruption(const api::Pod& pod) {
  for (const auto& condition : pod.status.conditions) {
    if (condition.type == "DisruptionTarget" && condition.status == "True") {
      return "disrupted (" + condition.reason.string() + ")" +
             (condition.message.empty() ? "" : ": " + condition.message);
    }
  }
  // The kubelet sets a pod-level reason when it ends a pod itself: Evicted, NodeShutdown, Preempting, ...
  if (pod.status.phase == "Failed" && !pod.status.reason.empty()) {
    return pod.status.reason + (pod.status.message.empty() ? "" : ": " + pod.status.message);
  }
  return pod.metadata.deleting() ? "the pod was deleted" : "";
}

// Reasons of the kubelet's admission (pkg/kubelet/lifecycle): a device plugin said no, or the node has fewer
// devices than the scheduler believed ("OutOfgpupool.dev/vgpu").
bool was_refused(const api::Pod& pod) {
  return pod.status.phase == "Failed" &&
         (pod.status.reason == "UnexpectedAdmissionError" || pod.status.reason.starts_with("OutOf"));
}

std::string describe_crash(const WorkerResult& result) {
  std::string text;
  if (result.outcome == "signaled") {
    text = "killed by signal " + std::to_string(result.signal);
  } else if (result.outcome == "notStarted") {
    text = "did not start" + (result.reason.empty() ? std::string() : " (" + result.reason + ")");
    if (!result.message.empty()) text += ": " + result.message;
  } else {
    text = "exited with code " + std::to_string(result.exit_code);
  }
  if (!result.tail.empty()) text += "; last lines:\n" + result.tail;
  return text;
}

WorkerView judge_result(WorkerView view, const WorkerResult& result, const api::ContainerTerminated& last) {
  if (result.interrupted()) {
    const bool out_of_memory = last.reason == "OOMKilled";
    view.state = out_of_memory ? WorkerState::kCrashed : WorkerState::kLost;
    view.message = out_of_memory ? "was killed because it ran out of memory" : "was interrupted";
    return view;
  }
  view.state = WorkerState::kCrashed;
  view.message = describe_crash(result);
  if (last.reason == "OOMKilled") view.message = "ran out of memory: " + view.message;
  view.finished_at = result.finished_at;
  if (result.stop_signal != 0) {
    // Somebody told it to stop first, so how it ended says nothing about the program.
    view.state = WorkerState::kLost;
    view.message = "was told to stop by signal " + std::to_string(result.stop_signal);
  }
  return view;
}

WorkerView judge_end_without_result(WorkerView view, const api::ContainerTerminated& last) {
  const std::string code = std::to_string(last.exit_code);
  if (last.reason == "OOMKilled") {
    view.state = WorkerState::kCrashed;
    view.message = "was killed because it ran out of memory";
  } else if (unseen(last)) {
    view.state = WorkerState::kLost;
    view.message = "ended unseen, with its node or its container runtime (exit code " + code + ")";
  } else if (last.exit_code == kSigkillExit || last.exit_code == kSigtermExit) {
    view.state = WorkerState::kLost;
    view.message = "its launcher was killed (exit code " + code + ")";
  } else {
    view.state = WorkerState::kCrashed;
    view.message = "ended with code " + code + " (" + last.reason + ") and left no result" +
                   (last.message.empty() ? "" : ": " + last.message);
  }
  return view;
}

std::string why_pending(const api::Pod& pod, const api::ContainerStatus* worker) {
  std::vector<const api::ContainerStatus*> statuses;
  statuses.reserve(pod.status.init_container_statuses.size() + 1);
  for (const auto& status : pod.status.init_container_statuses) statuses.push_back(&status);
  if (worker != nullptr) statuses.push_back(worker);
  for (const auto* status : statuses) {
    const auto& waiting = status->state.waiting;
    if (!waiting || waiting->reason.empty() || waiting->reason == "PodInitializing" ||
        waiting->reason == "ContainerCreating") {
      continue;
    }
    return "container " + status->name + ": " + waiting->reason +
           (waiting->message.empty() ? "" : ": " + waiting->message);
  }
  for (const auto& condition : pod.status.conditions) {
    if (condition.type == "PodScheduled" && condition.status == "False") {
      return condition.reason.string() + ": " + condition.message;
    }
  }
  return "starting";
}

// An init container that failed for good (only pods that never restart get there).
const api::ContainerStatus* failed_init(const api::Pod& pod) {
  for (const auto& status : pod.status.init_container_statuses) {
    if (status.state.terminated && status.state.terminated->exit_code != 0) return &status;
  }
  return nullptr;
}

}  // namespace

WorkerView assess_worker(const api::Pod& pod, const std::string& container, std::int64_t rank) {
  WorkerView view;
  view.rank = rank;
  view.placed = !pod.spec.node_name.empty();
  const auto* worker = find_container(pod.status.container_statuses, container);
  const auto evidence = evidence_of(worker);
  if (evidence.result && evidence.result->succeeded() && evidence.result->stop_signal == 0) {
    view.state = WorkerState::kSucceeded;
    return view;
  }
  if (auto gone = disruption(pod); !gone.empty()) {
    view.state = WorkerState::kLost;
    view.message = std::move(gone);
    view.refused = was_refused(pod);
    return view;
  }
  if (evidence.result) return judge_result(std::move(view), *evidence.result, *evidence.last);
  if (evidence.last != nullptr) return judge_end_without_result(std::move(view), *evidence.last);
  if (worker != nullptr && worker->state.running) {
    view.state = WorkerState::kRunning;
    return view;
  }
  if (const auto* init = failed_init(pod); init != nullptr && pod.status.phase == "Failed") {
    view.state = WorkerState::kCrashed;
    view.message = "init container " + init->name + " exited with code " +
                   std::to_string(init->state.terminated->exit_code);
    return view;
  }
  view.state = WorkerState::kPending;
  view.message = why_pending(pod, worker);
  return view;
}

std::int64_t rank_of(const api::Pod& pod) {
  for (const auto& owner : pod.metadata.owner_references) {
    if (owner.controller && owner.kind == "Job") return 0;
  }
  const auto& name = pod.metadata.name;
  const auto dash = name.rfind('-');
  std::int64_t rank = -1;
  if (dash != std::string::npos) std::from_chars(name.data() + dash + 1, name.data() + name.size(), rank);
  return rank;
}

namespace {

// Stamps are whole seconds, and a replacement may follow within the same one: then the pod that is on its way
// out is the older one.
bool is_older(const api::Pod& a, const api::Pod& b) {
  if (a.metadata.creation_timestamp != b.metadata.creation_timestamp)
    return a.metadata.creation_timestamp < b.metadata.creation_timestamp;
  const auto leaves = [](const api::Pod& pod) { return pod.metadata.deleting() || has_ended(pod); };
  return leaves(a) && !leaves(b);
}

}  // namespace

std::vector<WorkerView> assess_workers(const std::vector<std::shared_ptr<const api::Pod>>& pods,
                                       const std::string& id, std::int64_t workers,
                                       const std::string& container) {
  std::vector<const api::Pod*> by_rank(static_cast<std::size_t>(workers), nullptr);
  for (const auto& pod : pods) {
    if (pod->metadata.label(api::kLease) != id) continue;
    const auto rank = rank_of(*pod);
    if (rank < 0 || rank >= workers) continue;
    auto& chosen = by_rank[static_cast<std::size_t>(rank)];
    if (chosen == nullptr || is_older(*pod, *chosen)) chosen = pod.get();
  }
  std::vector<WorkerView> views;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    WorkerView absent;
    absent.rank = static_cast<std::int64_t>(rank);
    views.push_back(by_rank[rank] == nullptr ? absent
                                             : assess_worker(*by_rank[rank], container, absent.rank));
  }
  return views;
}

bool has_ended(const api::Pod& pod) {
  if (pod.status.phase == "Succeeded" || pod.status.phase == "Failed") return true;
  if (!pod.metadata.deleting()) return false;
  if (pod.spec.node_name.empty()) return true;
  for (const auto* statuses : {&pod.status.init_container_statuses, &pod.status.container_statuses}) {
    for (const auto& status : *statuses) {
      if (status.state.running) return false;
    }
  }
  // The kubelet deletes with grace 0 once it has seen every container end. "terminated" alone is not enough:
  // of a pod that always restarts, it may be the moment between two runs.
  return pod.metadata.deletion_grace_period_seconds == 0;
}

bool is_between_runs(const api::Pod& pod) {
  if (pod.status.phase != "Running" || pod.metadata.deleting()) return false;
  const auto& statuses = pod.status.container_statuses;
  const bool by_stateful_set =
      std::any_of(pod.metadata.owner_references.begin(), pod.metadata.owner_references.end(),
                  [](const api::OwnerReference& owner) { return owner.kind == "StatefulSet"; });
  return by_stateful_set &&
         std::any_of(statuses.begin(), statuses.end(),
                     [](const api::ContainerStatus& status) { return status.state.terminated.has_value(); });
}

bool sole_success(const std::vector<std::shared_ptr<const api::Pod>>& pods, const api::Lease& lease) {
  if (lease.shared() || !lease.lost.empty() || pods.size() != 1) return false;
  const auto& pod = pods.front();
  const auto& owners = pod->metadata.owner_references;
  const bool by_job = std::any_of(owners.begin(), owners.end(), [](const api::OwnerReference& owner) {
    return owner.controller && owner.kind == "Job";
  });
  return by_job && pod->status.phase == "Succeeded" && !pod->metadata.deleting() &&
         pod->metadata.label(api::kLease) == lease.id && pod->metadata.has_finalizer(api::kWorkerFinalizer);
}

bool has_result(const api::Pod& pod) {
  for (const auto& status : pod.status.container_statuses) {
    for (const auto* state : {&status.state, &status.last_state}) {
      if (state->terminated && parse_worker_result(state->terminated->message)) return true;
    }
  }
  return false;
}

}  // namespace gpupool::planning
