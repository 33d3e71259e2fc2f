// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/planning/builders.h"

#include "api/v1alpha1/names.h"

namespace gpupool::test {
namespace {

std::string result_with(const std::string& what, const std::string& more) {
  return R"({"version":1,"attempt":0,"rank":0,)" + what + more + "}";
}

}  // namespace

base::WallTime at(std::int64_t seconds) {
  return base::WallTime(std::chrono::seconds(1'800'000'000 + seconds));
}

api::Node make_node(const std::string& name, std::int64_t gpus, const std::string& model) {
  api::Node node;
  node.metadata.name = name;
  node.metadata.uid = "uid-" + name;
  node.metadata.labels[api::kGpuModelLabel] = model;
  node.status.allocatable[kGpus] = std::to_string(gpus);
  node.status.conditions = {{"MemoryPressure", "False", at(0)}, {"Ready", "True", at(0)}};
  return node;
}

planning::PoolNode make_pool_node(const std::string& name, std::int64_t gpus, const std::string& model) {
  return make_pool_node(make_node(name, gpus, model));
}

planning::PoolNode make_pool_node(api::Node node) {
  auto described = planning::describe_node(node, kGpus);
  described.object = share(std::move(node));
  return described;
}

api::GpuPool make_pool(const std::string& name) {
  api::GpuPool pool;
  pool.metadata.name = name;
  pool.metadata.uid = "uid-" + name;
  pool.metadata.creation_timestamp = at(0);
  pool.metadata.generation = 1;
  return pool;
}

api::GpuPool make_sharing_pool(const std::string& name) {
  auto pool = make_pool(name);
  pool.spec.sharing.emplace();
  return pool;
}

api::Node make_shared_member(const std::string& name, std::int64_t slices, const std::string& pool) {
  auto node = make_node(name, 0);
  node.status.allocatable[kSlices] = std::to_string(slices);
  node.spec.taints.push_back({api::kPoolTaint, pool, api::kNoSchedule});
  node.metadata.labels[api::kMemberLabel] = node.metadata.uid;
  return node;
}

api::GpuNode make_report(const std::string& node, std::int64_t gpus, std::int64_t split) {
  api::GpuNode report;
  report.metadata.name = node;
  for (std::int64_t i = 0; i < gpus; ++i) {
    api::GpuNodeGpu gpu;
    gpu.index = i;
    gpu.uuid = "GPU-" + node + "-" + std::to_string(i);
    gpu.model = "A";
    gpu.memory_mib = 16000;
    gpu.health = "Healthy";
    gpu.resource_name = kSlices;
    gpu.slices = {split, split, 16000 / split, 100 / split};
    report.status.gpus.push_back(gpu);
  }
  return report;
}

void show_pod(api::GpuNode& report, std::size_t gpu, const std::string& pod, std::int64_t slices) {
  report.status.gpus.at(gpu).pods.push_back({"ns", pod, slices});
  report.status.gpus.at(gpu).slices.free -= slices;
}

api::GpuJob make_job(const std::string& name, std::int64_t gpus, std::int64_t gpus_per_worker) {
  api::GpuJob job;
  job.metadata.name = name;
  job.metadata.ns = "ns";
  job.metadata.uid = "uid-" + name;
  job.metadata.generation = 1;
  job.metadata.creation_timestamp = at(0);
  job.spec.pool = "lab";
  job.spec.gpus = gpus;
  job.spec.gpus_per_worker = gpus_per_worker;
  job.spec.pod_template.text =
      R"({"spec":{"containers":[{"name":"train","image":"i","command":["python","train.py"]}]}})";
  return job;
}

api::GpuJob with_template(api::GpuJob job, const std::string& pod, const std::string& container) {
  job.spec.pod_template.text = R"({"spec":{"containers":[{"name":"train","image":"i","command":["train"])" +
                               (container.empty() ? "" : "," + container) + "}]" +
                               (pod.empty() ? "" : "," + pod) + "}}";
  return job;
}

api::Lease make_lease(const api::GpuJob& job, const std::string& state, const std::vector<std::string>& nodes,
                      std::int64_t n) {
  api::Lease lease;
  lease.id = api::LeaseValue{job.metadata.uid, n}.to_string();
  lease.state = state;
  lease.spec_hash = api::spec_hash(job.spec);
  for (const auto& node : nodes) lease.nodes.push_back({node, "uid-" + node});
  lease.since = at(0);
  return lease;
}

api::Pod make_pod(const std::string& lease_id, std::int64_t rank) {
  api::Pod pod;
  pod.metadata.name = "job-1-" + std::to_string(rank);
  pod.metadata.ns = "ns";
  pod.metadata.uid = "uid-" + pod.metadata.name;
  pod.metadata.creation_timestamp = at(0);
  pod.metadata.labels[api::kLease] = lease_id;
  pod.metadata.finalizers = {api::kWorkerFinalizer};
  pod.metadata.owner_references = {{"StatefulSet", "job-1", "uid-set", true}};
  pod.spec.node_name = "n" + std::to_string(rank);
  pod.status.phase = "Pending";
  api::ContainerStatus worker;
  worker.name = kWorker;
  worker.state.waiting = api::ContainerWaiting{"PodInitializing", ""};
  pod.status.container_statuses = {worker};
  return pod;
}

api::ContainerStatus& worker_of(api::Pod& pod) { return pod.status.container_statuses.at(0); }

api::Pod running(api::Pod pod) {
  pod.status.phase = "Running";
  worker_of(pod).state = {};
  worker_of(pod).state.running.emplace();
  return pod;
}

api::Pod ended(api::Pod pod, std::int64_t exit_code, const std::string& message, const std::string& reason) {
  pod.status.phase = "Running";
  worker_of(pod).state = {};
  worker_of(pod).state.terminated =
      api::ContainerTerminated{exit_code, 0, exit_code == 0 ? "Completed" : reason, message};
  return pod;
}

api::Pod restarted(api::Pod pod) {
  auto& worker = worker_of(pod);
  worker.last_state = worker.state;
  worker.state = {};
  worker.state.running.emplace();
  ++worker.restart_count;
  return pod;
}

api::Pod deleted(api::Pod pod, std::int64_t grace_seconds) {
  pod.metadata.deletion_timestamp = at(100);
  pod.metadata.deletion_grace_period_seconds = grace_seconds;
  return pod;
}

std::string exited_result(std::int64_t code, const std::string& more) {
  return result_with(R"("outcome":"exited","exitCode":)" + std::to_string(code), more);
}

std::string signaled_result(std::int64_t signal, const std::string& more) {
  return result_with(R"("outcome":"signaled","signal":)" + std::to_string(signal), more);
}

std::string interrupted_result() { return result_with(R"("outcome":"interrupted")", ""); }

}  // namespace gpupool::test
