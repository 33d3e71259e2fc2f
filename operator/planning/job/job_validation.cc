// SPDX-License-Identifier: Apache-2.0
#include "planning/job/job_validation.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "api/core/pod_template.h"
#include "api/live_metrics_format.h"
#include "api/v1alpha1/reasons.h"
#include "base/money.h"
#include "base/quantity.h"
#include "planning/job/checkpoint_validation.h"
#include "planning/job/data_validation.h"
#include "planning/workers/data_containers.h"
#include "planning/workers/manifests.h"
#include "planning/workers/pod_security.h"
#include "planning/workers/shared_memory.h"

namespace gpupool::planning {
namespace {

using MaybeProblem = std::optional<api::Problem>;

constexpr std::int64_t kMaxLiveStep = 2'147'483'647;
constexpr std::size_t kMaxBackupNodes = 1000;

api::Problem bad_spec(std::string message) { return {api::reason::kInvalidSpec, std::move(message)}; }
api::Problem bad_template(std::string message) {
  return {api::reason::kInvalidTemplate, "spec.template." + std::move(message)};
}

bool is_dns_label(std::string_view name) {
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.front() == '-' || name.back() == '-') return false;
  return std::all_of(name.begin(), name.end(), [&](char c) { return alphanumeric(c) || c == '-'; });
}

bool is_ours(std::string_view key) { return key.starts_with("gpupool.dev"); }

// A GpuSweep sets these in the templates of its jobs.
bool is_of_trial(std::string_view name) {
  return name == "GPUPOOL_TRIAL" || name.starts_with("GPUPOOL_PARAM_");
}

bool is_reserved_env(std::string_view name) {
  constexpr std::array<std::string_view, 5> kNames = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR",
                                                      "MASTER_PORT"};
  return (name.starts_with("GPUPOOL_") && !is_of_trial(name)) || name.starts_with("PET_") ||
         std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

MaybeProblem check_numbers(const api::GpuJob& job) {
  const auto& spec = job.spec;
  if (!is_dns_label(job.metadata.name)) {
    return bad_spec("metadata.name must be a DNS label: small letters, digits and dashes, no dash at an end");
  }
  if (job.metadata.name.size() > kMaxJobName) {
    return bad_spec("metadata.name must have at most " + std::to_string(kMaxJobName) + " characters");
  }
  if (spec.pool.empty()) return bad_spec("spec.pool must not be empty");
  if (spec.gpus < 1) return bad_spec("spec.gpus must be at least 1");
  if (spec.gpus_per_worker < 1) return bad_spec("spec.gpusPerWorker must be at least 1");
  if (spec.gpus > spec.gpus_per_worker && spec.gpus % spec.gpus_per_worker != 0) {
    return bad_spec("spec.gpus must be a multiple of spec.gpusPerWorker");
  }
  if (api::worker_count(spec) > kMaxWorkers) {
    return bad_spec("spec.gpus / spec.gpusPerWorker must be at most " + std::to_string(kMaxWorkers) +
                    " workers");
  }
  if (std::set<std::string>(spec.nodes.begin(), spec.nodes.end()).size() != spec.nodes.size()) {
    return bad_spec("spec.nodes names a node twice");
  }
  if (spec.near && !spec.near->labels.empty() && !spec.nodes.empty()) {
    return bad_spec("spec.near cannot be given together with spec.nodes, which names the nodes");
  }
  if (spec.node_replacement != api::node_replacement::kAllowed &&
      spec.node_replacement != api::node_replacement::kNever) {
    return bad_spec("spec.nodeReplacement must be Allowed or Never");
  }
  if (!spec.rendezvous.empty() && spec.rendezvous != api::rendezvous::kMasterPort &&
      spec.rendezvous != api::rendezvous::kNone) {
    return bad_spec("spec.rendezvous must be MasterPort or None");
  }
  if (spec.backoff_limit < 0) return bad_spec("spec.backoffLimit must not be negative");
  if (spec.active_deadline_seconds && *spec.active_deadline_seconds < 1) {
    return bad_spec("spec.activeDeadlineSeconds must be at least 1");
  }
  if (spec.start_timeout_seconds < 1) return bad_spec("spec.startTimeoutSeconds must be at least 1");
  if (spec.ttl_seconds_after_finished && *spec.ttl_seconds_after_finished < 0) {
    return bad_spec("spec.ttlSecondsAfterFinished must not be negative");
  }
  return std::nullopt;
}

MaybeProblem check_backup_nodes(const api::GpuJobSpec& spec, const api::GpuPool* pool) {
  if (!spec.backup_nodes || spec.backup_nodes->empty()) return std::nullopt;
  const auto& backups = *spec.backup_nodes;
  if (spec.nodes.empty()) return bad_spec("spec.backupNodes can only be given together with spec.nodes");
  if (spec.node_replacement == api::node_replacement::kNever)
    return bad_spec("spec.backupNodes cannot be given with spec.nodeReplacement Never");
  if (pool != nullptr && pool->spec.sharing)
    return bad_spec("spec.backupNodes is for pools that lease whole nodes, and pool " + spec.pool +
                    " is shared");
  if (backups.size() > kMaxBackupNodes)
    return bad_spec("spec.backupNodes must have at most " + std::to_string(kMaxBackupNodes) + " nodes");
  std::set<std::string_view> known(spec.nodes.begin(), spec.nodes.end());
  for (const auto& node : backups) {
    if (node.empty()) return bad_spec("spec.backupNodes has an empty name");
    if (std::ranges::find(spec.nodes, node) != spec.nodes.end())
      return bad_spec("spec.backupNodes: " + node + " is in spec.nodes");
    if (!known.insert(node).second) return bad_spec("spec.backupNodes names " + node + " twice");
  }
  return std::nullopt;
}

MaybeProblem check_metrics(const api::GpuJobSpec& spec) {
  if (!spec.metrics) return std::nullopt;
  const auto& steps = spec.metrics->live_steps;
  if (steps.size() > api::live_metrics::kMaxSteps) {
    return bad_spec("spec.metrics.liveSteps must have at most " +
                    std::to_string(api::live_metrics::kMaxSteps) + " steps");
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] < 0 || steps[i] > kMaxLiveStep || (i > 0 && steps[i] <= steps[i - 1])) {
      return bad_spec("spec.metrics.liveSteps must be ascending numbers from 0 to " +
                      std::to_string(kMaxLiveStep));
    }
  }
  return std::nullopt;
}

MaybeProblem check_slice(const api::GpuJobSpec& spec, const api::GpuPool* pool) {
  if (!spec.slice) return std::nullopt;
  const auto& slice = *spec.slice;
  if (pool != nullptr && !pool->spec.sharing) {
    return api::Problem{api::reason::kSliceInExclusivePool,
                        "spec.slice: pool " + spec.pool +
                            " leases whole nodes; remove spec.slice or use a pool with spec.sharing"};
  }
  if (pool != nullptr && pool->spec.rents_gpus()) {
    return api::Problem{
        api::reason::kSliceInExclusivePool,
        "spec.slice: pool " + spec.pool +
            " rents whole GPUs; remove spec.slice or use a pool with spec.sharing.unit Slice"};
  }
  const bool size = !slice.memory.empty() || slice.cores;
  if (!size && !slice.count) return bad_spec("spec.slice needs memory, cores or count");
  if (size && slice.count) return bad_spec("spec.slice.count cannot be given together with memory or cores");
  if (slice.count && *slice.count < 1) return bad_spec("spec.slice.count must be at least 1");
  if (slice.cores && (*slice.cores < 1 || *slice.cores > 100)) {
    return bad_spec("spec.slice.cores must be from 1 to 100 percent of a GPU");
  }
  if (!slice.memory.empty() && base::parse_quantity(slice.memory).value_or(0) < 1) {
    return bad_spec("spec.slice.memory: \"" + slice.memory + "\" is not a quantity such as 4Gi");
  }
  if (spec.gpus_per_worker != 1) {
    return bad_spec("spec.gpusPerWorker must be 1 with spec.slice: the slices of a worker are of one GPU");
  }
  return std::nullopt;
}

MaybeProblem check_placement(const api::PodTemplate& pod) {
  if (!pod.spec.node_name.empty()) return bad_template("spec.nodeName: use spec.nodes of the GpuJob instead");
  for (const auto* keys : {&pod.metadata.labels, &pod.metadata.annotations}) {
    for (const auto& [key, value] : *keys) {
      if (is_ours(key)) return bad_template("metadata: " + key + " belongs to gpupool");
    }
  }
  for (const auto& toleration : pod.spec.tolerations) {
    if (toleration.key.empty())
      return bad_template("spec.tolerations: a toleration without a key tolerates other jobs' nodes");
    if (is_ours(toleration.key))
      return bad_template("spec.tolerations: " + toleration.key + " belongs to gpupool");
  }
  const auto selects_ours = [](const auto& entry) { return is_ours(entry.first); };
  if (std::any_of(pod.spec.node_selector.begin(), pod.spec.node_selector.end(), selects_ours) ||
      pod.spec.affinity.text.find("\"key\":\"gpupool.dev") != std::string::npos) {
    return bad_template("spec: keys under gpupool.dev in nodeSelector and affinity belong to gpupool");
  }
  if (!pod.spec.affinity.empty()) {
    const auto shape = base::json::read<api::TemplateAffinity>(pod.spec.affinity.text);
    if (!shape) return bad_template("spec.affinity: " + shape.error().message);
  }
  // When the kubelet ends a pod at its deadline, this looks like an eviction, which is not charged.
  if (pod.spec.active_deadline_seconds)
    return bad_template("spec.activeDeadlineSeconds: use spec.activeDeadlineSeconds of the GpuJob instead");
  return std::nullopt;
}

// gpus: the number that the template may contain; nullopt if it depends on the pool's nodes (slices).
MaybeProblem check_gpus(const api::TemplateContainer& worker, const std::string& resource,
                        std::optional<std::int64_t> gpus) {
  for (const auto* amounts : {&worker.resources.limits, &worker.resources.requests}) {
    const auto found = amounts->find(resource);
    if (found == amounts->end()) continue;
    std::string amount = found->second.text;
    std::erase(amount, '"');
    if (!gpus) {
      return bad_template("spec.containers[0].resources: " + resource +
                          " is set by gpupool from spec.slice and spec.gpus");
    }
    if (base::parse_quantity(amount) != gpus) {
      return bad_template("spec.containers[0].resources: " + resource +
                          " is set by gpupool from spec.gpus (" + std::to_string(*gpus) +
                          " for each worker)");
    }
  }
  return std::nullopt;
}

MaybeProblem check_containers(const api::PodTemplate& pod, const api::GpuJobSpec& spec,
                              const api::GpuPoolSpec& pool) {
  if (pod.spec.containers.empty()) return bad_template("spec.containers: needs a container");
  const auto& worker = pod.spec.containers.front();
  if (worker.name.empty()) return bad_template("spec.containers[0].name: must be set");
  if (worker.command.empty()) {
    return bad_template(
        "spec.containers[0].command: must be set, because an image's own entrypoint cannot be seen");
  }
  if (worker.liveness_probe) {
    return bad_template(
        "spec.containers[0].livenessProbe: not allowed, a restart would not run the command again");
  }
  if (worker.lifecycle) return bad_template("spec.containers[0].lifecycle: not allowed on the worker");
  for (const auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (const auto& container : *containers) {
      if (container.name == kLauncherName || container.name == kSourceContainer ||
          container.name == kResultsContainer)
        return bad_template("spec: the container name " + container.name + " belongs to gpupool");
      for (const auto& env : container.env) {
        if (is_reserved_env(env.name))
          return bad_template("spec: environment variable " + env.name + " is set by gpupool");
      }
      for (const auto& mount : container.volume_mounts) {
        if (is_data_volume(mount.name))
          return bad_template("spec: the volume " + mount.name + " belongs to gpupool");
        if (mount.mount_path == kLauncherDirectory ||
            mount.mount_path.starts_with(std::string(kLauncherDirectory) + "/")) {
          return bad_template("spec: the mount path " + mount.mount_path + " belongs to gpupool");
        }
      }
    }
  }
  for (const auto& volume : pod.spec.volumes) {
    if (volume.name == kLauncherName || volume.name == kSharedMemoryName || is_data_volume(volume.name))
      return bad_template("spec.volumes: the name " + volume.name + " belongs to gpupool");
  }
  return check_gpus(
      worker, pool.worker_resource(),
      pool.sharing && !pool.rents_gpus() ? std::nullopt : std::optional(api::gpus_of_each_worker(spec)));
}

// pool: null if it does not exist yet; then it is not known what it allows.
MaybeProblem check_security(const api::PodTemplate& pod, const api::GpuPool* pool) {
  if (pool == nullptr) return std::nullopt;
  if (auto why = beyond_lease(pod, pool->spec.worker_resource()); !why.empty()) return bad_template(why);
  if (pool->spec.pod_security == api::kPrivileged) return std::nullopt;
  auto why = beyond_baseline(pod);
  return why.empty() ? std::nullopt : MaybeProblem(bad_template(why));
}

MaybeProblem check_max_price(const api::GpuJobSpec& spec) {
  const auto& most = spec.max_price_per_gpu_hour;
  if (!most || base::parse_micros(*most)) return std::nullopt;
  return bad_spec("spec.maxPricePerGpuHour: \"" + *most + "\" is not a price such as 1.50");
}

}  // namespace

MaybeProblem validate_job(const api::GpuJob& job, const api::GpuPool* pool, const TemplateFields& fields) {
  if (auto problem = check_numbers(job)) return problem;
  if (auto problem = check_backup_nodes(job.spec, pool)) return problem;
  if (auto problem = check_metrics(job.spec)) return problem;
  if (auto problem = check_max_price(job.spec)) return problem;
  if (auto problem = validate_data(job.spec)) return problem;
  if (auto problem = check_slice(job.spec, pool)) return problem;
  if (job.spec.pod_template.empty())
    return api::Problem{api::reason::kInvalidTemplate, "spec.template must be set"};
  if (job.spec.pod_template.text == base::json::kTooDeep)
    return api::Problem{api::reason::kInvalidTemplate, "spec.template is nested deeper than 200 levels"};
  const auto pod = base::json::read<api::PodTemplate>(job.spec.pod_template.text);
  if (!pod) return bad_template(pod.error().message);
  if (const auto unknown = fields.unknown_field(job.spec.pod_template.text); !unknown.empty())
    return bad_template(unknown + ": unknown field");
  if (auto problem = validate_checkpoint(job.spec, *pod)) return problem;
  if (auto problem = check_placement(*pod)) return problem;
  if (auto problem = check_security(*pod, pool)) return problem;
  return check_containers(*pod, job.spec, pool != nullptr ? pool->spec : api::GpuPoolSpec());
}

}  // namespace gpupool::planning
