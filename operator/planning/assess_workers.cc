#include "planning/assess_workers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>

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

bool has_begun(const api::ContainerStatus& status) {
  return status.state.running.has_value() || status.state.terminated.has_value() ||
         status.last_state.terminated.has_value();
}

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Reasons for which a kubelet does not have a pod now, but may have it later or elsewhere
// (pkg/kubelet/lifecycle): a device plugin said no, the node has less than the scheduler believed
// ("OutOfgpupool.dev/vgpu"), its labels or taints have changed. With any other reason it says the same again.
bool may_pass(std::string_view why) {
  constexpr std::array<std::string_view, 4> kPassing = {"UnexpectedAdmissionError", "TopologyAffinityError",
                                                        "NodeAffinity", "TaintToleration"};
  return why.starts_with("OutOf") || is_one_of(kPassing, why);
}

// Reasons with which a kubelet ends pods that run (eviction, nodeshutdown, preemption). Before 1.27 it may
// drop their containers from the status then.
bool ends_pods(std::string_view why) {
  constexpr std::array<std::string_view, 6> kReasons = {"Evicted",  "Preempting",       "Terminated",
                                                        "Shutdown", "DeadlineExceeded", "NodeShutdown"};
  return is_one_of(kReasons, why);
}

// The kubelet did not admit the pod: nothing of it ever ran.
bool was_refused(const api::Pod& pod) {
  const auto& status = pod.status;
  return status.phase == "Failed" && !status.reason.empty() && !ends_pods(status.reason) &&
         std::none_of(status.init_container_statuses.begin(), status.init_container_statuses.end(),
                      has_begun) &&
         std::none_of(status.container_statuses.begin(), status.container_statuses.end(), has_begun);
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
    view.unexplained = !out_of_memory && !unseen(last);
    return view;
  }
  view.state = WorkerState::kCrashed;
  view.message = describe_crash(result);
  if (last.reason == "OOMKilled") view.message = "ran out of memory: " + view.message;
  view.finished_at = result.finished_at;
  if (result.stop_signal != 0) {
    // Told to stop from outside of the pod, so how it ended says nothing about the program.
    view.state = WorkerState::kLost;
    view.message =
        "was told to stop by signal " + std::to_string(result.stop_signal) + " from outside of its pod";
    view.unexplained = true;
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
    view.unexplained = true;
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
    view.refused = was_refused(pod);
    const bool for_good = view.refused && !may_pass(pod.status.reason) && !pod.metadata.deleting();
    view.state = for_good ? WorkerState::kCrashed : WorkerState::kLost;
    view.message = (for_good ? "was refused by the kubelet: " : "") + std::move(gone);
    return view;
  }
  if (evidence.result) return judge_result(std::move(view), *evidence.result, *evidence.last);
  if (evidence.last != nullptr) return judge_end_without_result(std::move(view), *evidence.last);
  if (worker != nullptr && worker->state.running) {
    view.state = worker->restart_count > 0 ? WorkerState::kUnproven : WorkerState::kRunning;
    if (view.state == WorkerState::kUnproven)
      view.message = "was started again, and its node has not told how it had ended";
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

namespace {

bool all_terminated(const api::Pod& pod) {
  for (const auto* statuses : {&pod.status.init_container_statuses, &pod.status.container_statuses}) {
    for (const auto& status : *statuses) {
      // Kubelets before 1.27 show one that they have removed already as waiting, after its end.
      const bool removed = status.state.waiting && status.last_state.terminated;
      if (!status.state.terminated && !removed) return false;
    }
  }
  return !pod.status.container_statuses.empty();
}

// kube-controller-manager's pod collector: the node is gone, or an administrator says that it is out of
// service (node.kubernetes.io/out-of-service).
bool ended_by_collector(const api::Pod& pod) {
  return pod.status.phase == "Failed" &&
         std::any_of(pod.status.conditions.begin(), pod.status.conditions.end(), [](const auto& condition) {
           return condition.type == "DisruptionTarget" && condition.reason == "DeletionByPodGC";
         });
}

}  // namespace

bool has_ended(const api::Pod& pod) {
  const auto& metadata = pod.metadata;
  if (pod.spec.node_name.empty()) return metadata.deleting() || pod.status.phase == "Failed";
  if (pod.status.phase == "Succeeded") return true;
  if (pod.status.phase == "Failed") return !ended_by_collector(pod) || all_terminated(pod);
  return metadata.deleting() && metadata.deletion_grace_period_seconds == 0 && all_terminated(pod);
}

namespace {

// Of "v1.36.2-gke.1"; 0 if it cannot be read.
int minor_of(std::string_view version) {
  const auto dot = version.find('.');
  if (dot == std::string_view::npos) return 0;
  int minor = 0;
  std::from_chars(version.data() + dot + 1, version.data() + version.size(), minor);
  return minor;
}

}  // namespace

bool never_began(const api::Pod& pod, const api::Node& node) {
  constexpr int kFirstWithTerminalPhases = 27;
  const auto& statuses = pod.status.container_statuses;
  return std::none_of(statuses.begin(), statuses.end(), has_begun) &&
         minor_of(node.status.node_info.kubelet_version.string()) < kFirstWithTerminalPhases;
}

bool is_unconfirmed(const api::Pod& pod) {
  return pod.metadata.deleting() && pod.metadata.deletion_grace_period_seconds == 0 && !has_ended(pod);
}

std::vector<std::shared_ptr<const api::Pod>> unproven_pods(
    const std::vector<std::shared_ptr<const api::Pod>>& pods, const std::string& id,
    const std::string& container) {
  std::vector<std::shared_ptr<const api::Pod>> found;
  std::copy_if(pods.begin(), pods.end(), std::back_inserter(found), [&](const auto& pod) {
    return pod->metadata.label(api::kLease) == id &&
           assess_worker(*pod, container, 0).state == WorkerState::kUnproven;
  });
  return found;
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
