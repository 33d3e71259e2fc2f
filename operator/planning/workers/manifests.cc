// SPDX-License-Identifier: Apache-2.0
#include "planning/workers/manifests.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/core/pod_template.h"
#include "api/v1alpha1/names.h"
#include "api/worker_result_format.h"
#include "base/join.h"
#include "planning/workers/data_containers.h"
#include "planning/workers/grace_period.h"
#include "planning/workers/own_containers.h"
#include "planning/workers/shared_memory.h"
#include "planning/workers/worker_checkpoint.h"

namespace gpupool::planning {
namespace {

using Json = nlohmann::json;

Json labels_of(const api::GpuJob& job) {
  return {{api::kLease, job.status.lease->id},
          {api::kJobUidLabel, job.metadata.uid},
          {api::kJobNameLabel, job.metadata.name}};
}

Json metadata_of(const api::GpuJob& job, const std::string& name) {
  return {{"name", name},
          {"namespace", job.metadata.ns},
          {"labels", labels_of(job)},
          {"ownerReferences", Json::array({{{"apiVersion", api::kApiVersion},
                                            {"kind", api::GpuJob::kType.kind},
                                            {"name", job.metadata.name},
                                            {"uid", job.metadata.uid},
                                            {"controller", true},
                                            {"blockOwnerDeletion", true}}})}};
}

Json env(const std::string& name, const std::string& value) { return {{"name", name}, {"value", value}}; }

// Variables that users may rely on besides those of the launcher, also as `$(NAME)` in command and args.
void add_environment(Json& container, const api::GpuJob& job) {
  auto& list = container["env"];
  if (!list.is_array()) list = Json::array();
  list.push_back(env("GPUPOOL_JOB", job.metadata.name));
  list.push_back(env("GPUPOOL_ATTEMPT", std::to_string(job.status.lease->attempt)));
  add_checkpoint_variables(list, job);
  if (is_gang(job.spec)) {
    list.push_back(pod_name_variable());
  }
}

// What the launcher must know of the pod.
struct PodLimits {
  std::int64_t result_bytes = 0;
  std::int64_t grace_seconds = 0;
};

// The launcher takes its settings only from flags, because `envFrom` can set any variable; but for the
// keeper's token, which counts only together with a flag.
void wrap_command(Json& container, const api::GpuJob& job, const ManifestOptions& options,
                  const PodLimits& limits) {
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  auto command = Json::array(
      {std::string(kLauncherDirectory) + "/gpupool-launch", "run", "--job=" + job.metadata.name,
       "--attempt=" + number(job.status.lease->attempt), "--nnodes=" + number(api::worker_count(job.spec)),
       "--nproc=" + number(api::gpus_of_each_worker(job.spec)),
       "--master-addr=" + master_address(job, job.status.lease->id), "--master-port=" + number(kMasterPort),
       "--result-bytes=" + number(limits.result_bytes)});
  if (const auto& metrics = job.spec.metrics; metrics && !metrics->names.empty()) {
    command.push_back("--metrics=" + base::join(metrics->names, ","));
    if (!metrics->step_name.empty()) command.push_back("--metric-step=" + metrics->step_name);
    if (!metrics->live_steps.empty()) {
      std::vector<std::string> steps;
      steps.reserve(metrics->live_steps.size());
      for (const auto step : metrics->live_steps) steps.push_back(number(step));
      command.push_back("--live-steps=" + base::join(steps, ","));
      command.push_back("--live-id=" + job.metadata.uid);
    }
  }
  add_checkpoint_flags(command, job, limits.grace_seconds);
  if (options.keeper) add_keeper_flags(command, job, *options.keeper);
  if (is_gang(job.spec)) {
    command.push_back(std::string("--pod-name=$(") + kPodNameVariable + ")");
    command.push_back("--hold");
    if (!api::waits_for_rank_0(job.spec)) command.push_back("--master-timeout=0");
  } else {
    command.push_back("--rank=0");
  }
  command.push_back("--");
  for (const char* part : {"command", "args"}) {
    const auto found = container.find(part);
    if (found == container.end() || !found->is_array()) continue;
    for (auto& word : *found) command.push_back(std::move(word));
  }
  container["command"] = std::move(command);
  container.erase("args");
}

Json mount() { return {{"name", kLauncherName}, {"mountPath", kLauncherDirectory}}; }

void set_up_worker(Json& container, const api::GpuJob& job, const ManifestOptions& options,
                   const PodLimits& limits) {
  wrap_command(container, job, options, limits);
  add_environment(container, job);
  if (options.keeper) add_keeper_variable(container["env"], job, *options.keeper);
  array_at(container, "volumeMounts").push_back(mount());
  const auto slices = job.status.lease->slices;
  container["resources"]["limits"][options.gpu_resource] =
      std::to_string(slices > 0 ? slices : api::gpus_of_each_worker(job.spec));
  const auto requests = container["resources"].find("requests");
  if (requests != container["resources"].end() && requests->is_object())
    requests->erase(options.gpu_resource);
  // The operator reads the launcher's result from the termination message.
  container["terminationMessagePath"] = "/dev/termination-log";
  container["terminationMessagePolicy"] = "File";
}

Json launcher_container(const Json& pod_spec, const ManifestOptions& options) {
  return {{"name", kLauncherName},
          {"image", options.images.launcher},
          {"imagePullPolicy", "IfNotPresent"},
          {"command", {"/gpupool-launch", "install", kLauncherDirectory}},
          {"resources", own_resources(pod_spec["containers"][0])},
          {"securityContext", own_security(pod_spec)},
          {"volumeMounts", Json::array({mount()})}};
}

// Bytes of the result of a worker. gpupool adds its own containers to those of the template.
std::int64_t result_bytes(const Json& pod_spec, const api::GpuJobSpec& job) {
  std::int64_t containers = 1 + count_data_containers(job);
  for (const char* list : {"containers", "initContainers"}) {
    const auto found = pod_spec.find(list);
    if (found != pod_spec.end() && found->is_array()) containers += static_cast<std::int64_t>(found->size());
  }
  return api::worker_result::max_bytes(containers);
}

// Allows only nodes of this lease. Every term of the affinity needs the requirement, because terms are
// alternatives.
void require_nodes(Json& spec, const api::Lease& lease) {
  auto values = Json::array();
  if (lease.shared()) {
    for (const auto& node : lease.nodes) values.push_back(node.uid);
  } else {
    values.push_back(lease.id);
  }
  const Json requirement = {{"key", lease.shared() ? api::kMemberLabel : api::kNodeLeaseLabel},
                            {"operator", "In"},
                            {"values", std::move(values)}};
  auto& required = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
  auto& terms = array_at(required, "nodeSelectorTerms");
  if (terms.empty()) terms.push_back(Json::object());
  for (auto& term : terms) array_at(term, "matchExpressions").push_back(requirement);
}

// Sets the grace period where the template says another. Returns it.
std::int64_t set_grace(Json& spec, const api::GpuJobSpec& job, const std::optional<std::int64_t>& most) {
  auto& grace = spec["terminationGracePeriodSeconds"];
  const auto given =
      grace.is_number_integer() ? std::optional(grace.get<std::int64_t>()) : std::optional<std::int64_t>();
  const auto seconds = grace_seconds(job, given, most);
  if (seconds != given.value_or(kDefaultGraceSeconds)) grace = seconds;
  if (grace.is_null()) spec.erase("terminationGracePeriodSeconds");
  return seconds;
}

// Tolerates the taint without a limit: nodeLossTimeoutSeconds of the pool decides when a node is lost, not
// Kubernetes' 300 s.
Json outlasting(const char* taint) {
  return {{"key", taint}, {"operator", "Exists"}, {"effect", "NoExecute"}};
}

Json toleration(const api::GpuJob& job) {
  const bool shared = job.status.lease->shared();
  return {{"key", shared ? api::kPoolTaint : api::kLease},
          {"operator", "Equal"},
          {"value", shared ? job.spec.pool : job.status.lease->id},
          {"effect", api::kNoSchedule}};
}

// Keeps the scheduler from putting more workers on a node than the lease has reserved there.
void spread_evenly(Json& spec, const api::Lease& lease) {
  if (!lease.shared() || lease.nodes.size() < 2) return;
  array_at(spec, "topologySpreadConstraints")
      .push_back({{"maxSkew", 1},
                  {"topologyKey", api::kMemberLabel},
                  {"whenUnsatisfiable", "DoNotSchedule"},
                  {"labelSelector", {{"matchLabels", {{api::kLease, lease.id}}}}}});
}

Json pod_template(const api::GpuJob& job, const ManifestOptions& options) {
  auto pod = Json::parse(job.spec.pod_template.text);
  Json metadata = Json::object();
  for (const char* kept : {"labels", "annotations"}) {
    if (pod.contains("metadata") && pod["metadata"].contains(kept)) metadata[kept] = pod["metadata"][kept];
  }
  if (!metadata.contains("labels")) metadata["labels"] = Json::object();
  metadata["labels"].update(labels_of(job));
  const auto& lease = *job.status.lease;
  if (lease.shared()) metadata["labels"][api::kSlicesLabel] = std::to_string(lease.slices);
  metadata["finalizers"] = {api::kWorkerFinalizer};
  pod["metadata"] = std::move(metadata);
  auto& spec = pod["spec"];
  spec["restartPolicy"] = is_gang(job.spec) ? "Always" : "Never";
  const PodLimits limits = {result_bytes(spec, job.spec),
                            set_grace(spec, job.spec, options.max_grace_seconds)};
  auto launcher = launcher_container(spec, options);
  add_shared_memory(spec);
  set_up_worker(spec["containers"][0], job, options, limits);
  add_checkpoint_volume(spec, job);
  add_data_containers(spec, job, options.images.carry, limits.result_bytes);
  auto& init = array_at(spec, "initContainers");
  init.insert(init.begin(), std::move(launcher));
  array_at(spec, "volumes").push_back({{"name", kLauncherName}, {"emptyDir", Json::object()}});
  auto& tolerations = array_at(spec, "tolerations");
  tolerations.push_back(toleration(job));
  for (const char* taint : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"})
    tolerations.push_back(outlasting(taint));
  require_nodes(spec, lease);
  spread_evenly(spec, lease);
  return pod;
}

// podReplacementPolicy: a deleted pod is not replaced while it ends, and then counts as failed. Servers
// before 1.29 drop the field.
Json batch_job(const api::GpuJob& job, const Json& pod) {
  return {{"apiVersion", "batch/v1"},
          {"kind", "Job"},
          {"metadata", metadata_of(job, child_name(job, job.status.lease->id))},
          {"spec",
           {{"backoffLimit", 0},
            {"completions", 1},
            {"parallelism", 1},
            {"podReplacementPolicy", "Failed"},
            {"template", pod}}}};
}

std::string text_of(const Json& document) {
  return document.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string child_name(const api::GpuJob& job, const std::string& lease_id) {
  const auto value = api::parse_lease_value(lease_id);
  return job.metadata.name + "-" + std::to_string(value ? value->n : 0);
}

std::string service_name(const api::GpuJob& job, const std::string& lease_id) {
  const auto& name = job.metadata.name;
  const bool digit = !name.empty() && name.front() >= '0' && name.front() <= '9';
  return (digit ? "j-" : "") + child_name(job, lease_id);
}

bool is_gang(const api::GpuJobSpec& spec) { return api::worker_count(spec) > 1; }

std::string master_address(const api::GpuJob& job, const std::string& lease_id) {
  if (!is_gang(job.spec)) return "127.0.0.1";
  return child_name(job, lease_id) + "-0." + service_name(job, lease_id);
}

std::string worker_container(const api::GpuJobSpec& spec) {
  const auto pod = base::json::read<api::PodTemplate>(spec.pod_template.text);
  return pod && !pod->spec.containers.empty() ? pod->spec.containers.front().name : std::string();
}

Manifests make_manifests(const api::GpuJob& job, const ManifestOptions& options) {
  const auto& id = job.status.lease->id;
  auto pod = pod_template(job, options);
  if (!is_gang(job.spec)) return {"", text_of(batch_job(job, pod))};
  const Json selector = {{api::kLease, id}};
  // Ranks resolve the name of the master before any of them is ready.
  const Json service = {
      {"apiVersion", "v1"},
      {"kind", "Service"},
      {"metadata", metadata_of(job, service_name(job, id))},
      {"spec",
       {{"clusterIP", "None"},
        {"publishNotReadyAddresses", true},
        {"selector", selector},
        {"ports", Json::array({{{"name", "master"}, {"port", kMasterPort}, {"protocol", "TCP"}}})}}}};
  const Json workload = {{"apiVersion", "apps/v1"},
                         {"kind", "StatefulSet"},
                         {"metadata", metadata_of(job, child_name(job, id))},
                         {"spec",
                          {{"serviceName", service_name(job, id)},
                           {"replicas", api::worker_count(job.spec)},
                           {"podManagementPolicy", "Parallel"},
                           {"updateStrategy", {{"type", "OnDelete"}}},
                           {"revisionHistoryLimit", 0},
                           {"selector", {{"matchLabels", selector}}},
                           {"template", pod}}}};
  pod["spec"]["restartPolicy"] = "Never";
  return {text_of(service), text_of(workload), text_of(batch_job(job, pod))};
}

std::string make_worker_pod(const api::GpuJob& job, const ManifestOptions& options) {
  auto pod = pod_template(job, options);
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  pod["metadata"]["name"] = child_name(job, job.status.lease->id) + "-0";
  pod["metadata"]["namespace"] = job.metadata.ns;
  return text_of(pod);
}

}  // namespace gpupool::planning
