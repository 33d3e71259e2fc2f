// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/pod_end.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "api/v1alpha1/names.h"
#include "planning/workers/transfers.h"
#include "planning/workers/worker_identity.h"
#include "planning/workers/worker_result.h"

namespace gpupool::planning {
namespace {

bool all_terminated(const api::Pod& pod) {
  for (const auto* statuses : {&pod.status.init_container_statuses, &pod.status.container_statuses}) {
    for (const auto& status : *statuses) {
      // Kubelets before 1.27 show a container that they have removed as waiting, after its end.
      const bool removed = status.state.waiting && status.last_state.terminated;
      if (!status.state.terminated && !removed) return false;
    }
  }
  return !pod.status.container_statuses.empty();
}

// True if kube-controller-manager's pod collector ended the pod: the node is gone, or an administrator
// declared it out of service (node.kubernetes.io/out-of-service).
bool ended_by_collector(const api::Pod& pod) {
  return pod.status.phase == "Failed" &&
         std::any_of(pod.status.conditions.begin(), pod.status.conditions.end(), [](const auto& condition) {
           return condition.type == "DisruptionTarget" && condition.reason == "DeletionByPodGC";
         });
}

// Returns 36 for "v1.36.2-gke.1"; 0 if the text cannot be parsed.
int minor_of(std::string_view version) {
  const auto dot = version.find('.');
  if (dot == std::string_view::npos) return 0;
  int minor = 0;
  std::from_chars(version.data() + dot + 1, version.data() + version.size(), minor);
  return minor;
}

}  // namespace

bool has_begun(const api::ContainerStatus& status) {
  return status.state.running.has_value() || status.state.terminated.has_value() ||
         status.last_state.terminated.has_value();
}

bool has_ended(const api::Pod& pod) {
  const auto& metadata = pod.metadata;
  if (pod.spec.node_name.empty()) return metadata.deleting() || pod.status.phase == "Failed";
  if (pod.status.phase == "Succeeded") return true;
  if (pod.status.phase == "Failed") return !ended_by_collector(pod) || all_terminated(pod);
  return metadata.deleting() && metadata.deletion_grace_period_seconds == 0 && all_terminated(pod);
}

bool never_began(const api::Pod& pod, const api::Node& node) {
  constexpr int kFirstWithTerminalPhases = 27;
  const auto& statuses = pod.status.container_statuses;
  return std::none_of(statuses.begin(), statuses.end(), has_begun) &&
         minor_of(node.status.node_info.kubelet_version.string()) < kFirstWithTerminalPhases;
}

bool is_unconfirmed(const api::Pod& pod) {
  return pod.metadata.deleting() && pod.metadata.deletion_grace_period_seconds == 0 && !has_ended(pod);
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

bool awaits_phase(const api::Pod& pod) {
  return pod.status.phase == "Running" && !pod.metadata.deleting() && all_terminated(pod);
}

bool sole_success(const std::vector<std::shared_ptr<const api::Pod>>& pods, const api::Lease& lease) {
  if (!lease.lost.empty() || pods.size() != 1) return false;
  const auto& pod = pods.front();
  return is_of_job(*pod) && pod->status.phase == "Succeeded" && !pod->metadata.deleting() &&
         pod->metadata.label(api::kLease) == lease.id && pod->metadata.has_finalizer(api::kWorkerFinalizer);
}

bool has_result(const api::Pod& pod) {
  if (awaits_results(pod)) return false;
  for (const auto& status : pod.status.container_statuses) {
    for (const auto* state : {&status.state, &status.last_state}) {
      if (state->terminated && parse_worker_result(state->terminated->message)) return true;
    }
  }
  return false;
}

}  // namespace gpupool::planning
