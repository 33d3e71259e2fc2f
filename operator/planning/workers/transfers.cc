// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/transfers.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "api/v1alpha1/reasons.h"
#include "planning/workers/data_containers.h"
#include "planning/workers/pod_end.h"

namespace gpupool::planning {
namespace {

const api::ContainerStatus* status_of(const std::vector<api::ContainerStatus>& statuses,
                                      std::string_view container) {
  const auto found = std::ranges::find(statuses, container, &api::ContainerStatus::name);
  return found == statuses.end() ? nullptr : &*found;
}

std::optional<api::TransferReport> report_of(const api::ContainerStatus* status) {
  if (status == nullptr) return std::nullopt;
  for (const auto* state : {&status->state, &status->last_state}) {
    if (!state->terminated || state->terminated->message.empty()) continue;
    auto report = base::json::read<api::TransferReport>(state->terminated->message);
    if (report && report->version > 0) return *std::move(report);
  }
  return std::nullopt;
}

const api::ContainerStatus* source_status(const api::Pod& pod) {
  return status_of(pod.status.init_container_statuses, kSourceContainer);
}

}  // namespace

std::optional<api::TransferReport> source_report(const api::Pod& pod) {
  return report_of(source_status(pod));
}

std::optional<api::TransferReport> results_report(const api::Pod& pod) {
  return report_of(status_of(pod.status.container_statuses, kResultsContainer));
}

bool fetches_source(const api::Pod& pod) {
  const auto* status = source_status(pod);
  return status != nullptr && has_begun(*status);
}

bool is_fetching(const api::Pod& pod) {
  const auto* status = source_status(pod);
  return status != nullptr && status->state.running.has_value();
}

std::optional<api::Problem> failure_of_source(const api::Pod& pod) {
  const auto report = source_report(pod);
  if (report && !report->reason.empty()) return api::Problem{report->reason, report->message};
  const auto* status = source_status(pod);
  if (report || status == nullptr) return std::nullopt;
  // It has the worker's limit. In a pod that restarts its containers it would run out again and again.
  for (const auto* state : {&status->state, &status->last_state}) {
    if (state->terminated && state->terminated->reason == "OOMKilled")
      return api::Problem{api::reason::kSourceUnavailable,
                          "gpupool-carry ran out of memory: it has the limit of the worker, and needs 64Mi"};
  }
  return std::nullopt;
}

bool awaits_results(const api::Pod& pod) {
  if (pod.status.phase == "Succeeded" || pod.status.phase == "Failed") return false;
  const auto* status = status_of(pod.status.container_statuses, kResultsContainer);
  return status != nullptr && !report_of(status);
}

}  // namespace gpupool::planning
