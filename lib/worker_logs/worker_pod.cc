// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/worker_pod.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "api/core/pod_template.h"
#include "api/v1alpha1/lease_value.h"
#include "api/v1alpha1/names.h"

namespace gpupool::logs {
namespace {

// -1 if the text is no number.
std::int64_t whole_number(std::string_view text) {
  std::int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : -1;
}

const api::OwnerReference* controller_of(const WorkerPod& pod) {
  const auto& owners = pod.metadata.owner_references;
  const auto found = std::ranges::find_if(owners, [](const auto& owner) { return owner.controller; });
  return found == owners.end() ? nullptr : &*found;
}

std::int64_t attempt_of(const WorkerPod& pod, const std::string& container) {
  for (const auto& candidate : pod.spec.containers) {
    if (candidate.name != container) continue;
    // The last of equal names counts, and the operator's is added at the end.
    std::int64_t attempt = -1;
    for (const auto& variable : candidate.env) {
      if (variable.name == "GPUPOOL_ATTEMPT") attempt = whole_number(variable.value);
    }
    return attempt;
  }
  return -1;
}

const api::ContainerStatus* status_of(const WorkerPod& pod, const std::string& container) {
  const auto& statuses = pod.status.container_statuses;
  const auto found =
      std::ranges::find_if(statuses, [&](const auto& status) { return status.name == container; });
  return found == statuses.end() ? nullptr : &*found;
}

std::string why_not_begun(const WorkerPod& pod, const api::ContainerStatus* worker) {
  for (const auto& condition : pod.status.conditions) {
    if (condition.type == "PodScheduled" && condition.status == "False") return condition.message;
  }
  for (const auto& init : pod.status.init_container_statuses) {
    if (init.state.waiting && init.state.waiting->reason != "PodInitializing")
      return init.state.waiting->reason;
  }
  if (worker != nullptr && worker->state.waiting) return worker->state.waiting->reason;
  return pod.status.reason.empty() ? pod.status.phase : pod.status.reason;
}

Output output_of(const api::ContainerStatus& worker) {
  if (worker.restart_count > 1) return Output::kForgotten;
  if (worker.restart_count == 1) return Output::kPrevious;
  if (worker.state.running) return Output::kRunning;
  if (worker.state.terminated) return Output::kEnded;
  // It waits for its second start.
  return worker.last_state.terminated ? Output::kPrevious : Output::kNotBegun;
}

}  // namespace

std::string worker_container(const api::GpuJob& job) {
  const auto pod = base::json::read<api::PodTemplate>(job.spec.pod_template.text);
  return pod && !pod->spec.containers.empty() ? pod->spec.containers.front().name : std::string();
}

std::optional<WorkerPlace> place_of(const WorkerPod& pod, const api::GpuJob& job,
                                    const std::string& container) {
  const auto lease = api::parse_lease_value(pod.metadata.label(api::kLease));
  if (!lease || lease->job_uid != job.metadata.uid) return std::nullopt;
  const auto* const controller = controller_of(pod);
  const std::string child = job.metadata.name + "-" + std::to_string(lease->n);
  if (controller == nullptr || controller->name != child) return std::nullopt;
  WorkerPlace place{.lease = lease->n, .attempt = attempt_of(pod, container)};
  if (controller->kind == "Job") return place;
  const std::string_view name = pod.metadata.name;
  if (!name.starts_with(child + "-")) return std::nullopt;
  place.rank = whole_number(name.substr(child.size() + 1));
  if (place.rank < 0 || place.rank >= api::worker_count(job.spec)) return std::nullopt;
  return place;
}

WorkerState state_of(const WorkerPod& pod, const std::string& container) {
  WorkerState state;
  state.pod_over = pod.status.phase == "Succeeded" || pod.status.phase == "Failed";
  const auto* const controller = controller_of(pod);
  state.restarts = !state.pod_over && !pod.metadata.deleting() && controller != nullptr &&
                   controller->kind == "StatefulSet";
  const auto* const worker = status_of(pod, container);
  if (worker != nullptr) {
    state.output = output_of(*worker);
    for (const auto* const end : {&worker->state.terminated, &worker->last_state.terminated}) {
      if (!*end) continue;
      // The launcher's exit code is that of the command, also when it repeats its result.
      state.exit_code = (*end)->exit_code;
      state.failed = state.exit_code != 0;
    }
  }
  if (state.output == Output::kNotBegun) state.waits_for = why_not_begun(pod, worker);
  return state;
}

}  // namespace gpupool::logs
