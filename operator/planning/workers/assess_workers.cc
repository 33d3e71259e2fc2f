// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/assess_workers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>

#include "api/v1alpha1/last_lines.h"
#include "api/v1alpha1/names.h"
#include "base/rfc3339.h"
#include "planning/workers/data_containers.h"
#include "planning/workers/follows_another.h"
#include "planning/workers/pod_end.h"
#include "planning/workers/transfers.h"
#include "planning/workers/worker_identity.h"

namespace gpupool::planning {
namespace {

constexpr std::int64_t kSigkillExit = 137;
constexpr std::int64_t kSigtermExit = 143;

// The reasons with which containerd and the kubelet report a container whose end nobody saw, because its node
// went down.
bool unseen(const api::ContainerTerminated& last) {
  return last.reason == "Unknown" || last.reason == "ContainerStatusUnknown";
}

// The kubelet lost the ended container and starts a new one, whose launcher will repeat the result. For the
// lost container a kubelet of 1.20 shows no last state, one of 1.36 shows ContainerStatusUnknown.
bool will_repeat_result(const api::Pod& pod, const api::ContainerStatus& worker) {
  const bool over = pod.status.phase == "Failed" || pod.status.phase == "Succeeded";
  if (over || worker.restart_count == 0 || worker.state.terminated) return false;
  const auto& last = worker.last_state.terminated;
  return last ? last->reason == "ContainerStatusUnknown" : worker.state.running.has_value();
}

const api::ContainerStatus* find_container(const std::vector<api::ContainerStatus>& statuses,
                                           const std::string& name) {
  for (const auto& status : statuses) {
    if (status.name == name) return &status;
  }
  return nullptr;
}

// What is known about the end of the worker container, also if the kubelet has restarted it since.
struct Evidence {
  const api::ContainerTerminated* last = nullptr;  // its last end
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

// Returns what deleted, evicted or refused the pod; empty if nothing did. In the order of
// docs/protocol.md#outcomes it comes after a stored exit code 0 and before any other result.
std::string disruption(const api::Pod& pod) {
  for (const auto& condition : pod.status.conditions) {
    if (condition.type == "DisruptionTarget" && condition.status == "True") {
      return "disrupted (" + condition.reason.string() + ")" +
             (condition.message.empty() ? "" : ": " + condition.message);
    }
  }
  // A kubelet that ends a pod itself sets a reason of the pod: Evicted, NodeShutdown, Preempting, ...
  if (pod.status.phase == "Failed" && !pod.status.reason.empty()) {
    return pod.status.reason + (pod.status.message.empty() ? "" : ": " + pod.status.message);
  }
  return pod.metadata.deleting() ? "the pod was deleted" : "";
}

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Reasons with which a kubelet does not admit a pod now, but may admit it later or elsewhere
// (pkg/kubelet/lifecycle): a device plugin refused, the node has less than the scheduler counted
// ("OutOfgpupool.dev/vgpu"), or labels or taints of the node have changed. With any other reason it would
// refuse the pod again.
bool may_pass(std::string_view why) {
  constexpr std::array<std::string_view, 4> kPassing = {"UnexpectedAdmissionError", "TopologyAffinityError",
                                                        "NodeAffinity", "TaintToleration"};
  return why.starts_with("OutOf") || is_one_of(kPassing, why);
}

// Reasons with which a kubelet ends running pods (eviction, nodeshutdown, preemption). Before 1.27 it may
// remove their containers from the status then.
bool ends_pods(std::string_view why) {
  constexpr std::array<std::string_view, 6> kReasons = {"Evicted",  "Preempting",       "Terminated",
                                                        "Shutdown", "DeadlineExceeded", "NodeShutdown"};
  return is_one_of(kReasons, why);
}

// True if the kubelet did not admit the pod: nothing of it ever ran.
bool was_refused(const api::Pod& pod) {
  const auto& status = pod.status;
  return status.phase == "Failed" && !status.reason.empty() && !ends_pods(status.reason) &&
         std::none_of(status.init_container_statuses.begin(), status.init_container_statuses.end(),
                      has_begun) &&
         std::none_of(status.container_statuses.begin(), status.container_statuses.end(), has_begun);
}

// The end of the text, from the start of a line; empty if its last line alone is too long.
std::string last_whole_lines(const std::string& text) {
  if (text.size() <= kMaxLastLines) return text;
  const auto newline = text.find('\n', text.size() - kMaxLastLines - 1);
  return newline == std::string::npos ? std::string() : text.substr(newline + 1);
}

std::string describe_crash(const WorkerResult& result) {
  std::string text;
  if (result.outcome == api::worker_result::kSignaled) {
    text = "killed by signal " + std::to_string(result.signal);
  } else if (result.outcome == api::worker_result::kNotStarted) {
    text = "did not start" + (result.reason.empty() ? std::string() : " (" + result.reason + ")");
    if (!result.message.empty()) text += ": " + result.message;
  } else {
    text = "exited with code " + std::to_string(result.exit_code);
  }
  if (!result.tail.empty()) text += std::string(api::kLastLines) + result.tail;
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
  view.finished_at = base::parse_rfc3339(result.finished_at);
  view.follows = follows_another_end(result);
  if (result.stop_signal != 0) {
    // It was told to stop from outside the pod, so its end says nothing about the program.
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
  return kStarting;
}

// True if the scheduler has looked for a node and found none. A pod with schedulingGates has another reason.
bool is_unschedulable(const api::Pod& pod) {
  return std::ranges::any_of(pod.status.conditions, [](const api::PodCondition& condition) {
    return condition.type == "PodScheduled" && condition.status == "False" &&
           condition.reason == "Unschedulable";
  });
}

// True if a container refers to a ConfigMap, Secret or key that does not exist (pkg/kubelet/kuberuntime).
bool lacks_configuration(const api::Pod& pod) {
  const auto lacks = [](const api::ContainerStatus& status) {
    return status.state.waiting && status.state.waiting->reason == "CreateContainerConfigError";
  };
  return std::ranges::any_of(pod.status.init_container_statuses, lacks) ||
         std::ranges::any_of(pod.status.container_statuses, lacks);
}

// An init container that failed for good (only pods that never restart get there).
const api::ContainerStatus* failed_init(const api::Pod& pod) {
  for (const auto& status : pod.status.init_container_statuses) {
    if (status.state.terminated && status.state.terminated->exit_code != 0) return &status;
  }
  return nullptr;
}

// gpupool-carry was killed, or was told to stop: no fault of the job. Its report tells other failures.
bool was_interrupted(const api::ContainerStatus& init) {
  const auto& end = *init.state.terminated;
  return init.name == kSourceContainer && end.reason != "OOMKilled" &&
         (end.exit_code == kSigkillExit || end.exit_code == kSigtermExit || unseen(end));
}

}  // namespace

WorkerView assess_worker(const api::Pod& pod, const std::string& container, std::int64_t rank) {
  WorkerView view;
  view.rank = rank;
  view.placed = !pod.spec.node_name.empty();
  const auto* worker = find_container(pod.status.container_statuses, container);
  const auto evidence = evidence_of(worker);
  if (evidence.result) {
    view.told = evidence.result->stop_signal != 0;
    view.yielded = view.told && evidence.result->succeeded();
  }
  if (evidence.result && awaits_results(pod)) {
    view.saves_results = true;
    view.finished_at = base::parse_rfc3339(evidence.result->finished_at);
  }
  if (evidence.result && evidence.result->succeeded() && evidence.result->stop_signal == 0) {
    view.state = WorkerState::kSucceeded;
    view.last_lines = last_whole_lines(evidence.result->tail);
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
  if (worker != nullptr && will_repeat_result(pod, *worker)) {
    view.state = WorkerState::kUnproven;
    view.message = "was started again, and its node has not told how it had ended";
    return view;
  }
  if (evidence.last != nullptr) return judge_end_without_result(std::move(view), *evidence.last);
  if (worker != nullptr && worker->state.running) {
    view.state = WorkerState::kRunning;
    return view;
  }
  if (const auto* init = failed_init(pod); init != nullptr && pod.status.phase == "Failed") {
    view.state = was_interrupted(*init) ? WorkerState::kLost : WorkerState::kCrashed;
    view.message = "init container " + init->name + " exited with code " +
                   std::to_string(init->state.terminated->exit_code);
    return view;
  }
  view.state = WorkerState::kPending;
  view.message = is_fetching(pod) ? kFetching : why_pending(pod, worker);
  view.stuck = view.placed ? lacks_configuration(pod) : is_unschedulable(pod);
  return view;
}

std::optional<WorkerResult> result_of_worker(const api::Pod& pod, const std::string& container) {
  return evidence_of(find_container(pod.status.container_statuses, container)).result;
}

std::int64_t rank_of(const api::Pod& pod) {
  if (is_of_job(pod)) return 0;
  const auto& name = pod.metadata.name;
  const auto dash = name.rfind('-');
  std::int64_t rank = -1;
  if (dash != std::string::npos) std::from_chars(name.data() + dash + 1, name.data() + name.size(), rank);
  return rank;
}

namespace {

// Creation times are whole seconds. If they are equal, the pod that is being deleted is the older one.
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

}  // namespace gpupool::planning
