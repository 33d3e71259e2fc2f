// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"
#include "planning/nodes/node_gpus.h"

// Small objects for tests, with the fields that Kubernetes always sets.
namespace gpupool::test {

inline constexpr char kGpus[] = "nvidia.com/gpu";
inline constexpr char kSlices[] = "gpupool.dev/vgpu";
inline constexpr char kWorker[] = "train";

// This number of seconds after a fixed moment.
base::WallTime at(std::int64_t seconds);

// A ready node with allocatable GPUs. Its UID is "uid-" and its name.
api::Node make_node(const std::string& name, std::int64_t gpus = 1, const std::string& model = "A");
planning::PoolNode make_pool_node(const std::string& name, std::int64_t gpus = 1,
                                  const std::string& model = "A");
planning::PoolNode make_pool_node(api::Node node);
// The job's template gets these fields of a pod's spec, and the worker container these, each a part of a JSON
// object: R"("nodeSelector":{"zone":"b"})".
api::GpuJob with_template(api::GpuJob job, const std::string& pod, const std::string& container = "");
api::GpuPool make_pool(const std::string& name = "lab");
// A sharing pool, and a member with its marks and this number of allocatable slices.
api::GpuPool make_sharing_pool(const std::string& name = "lab");
api::Node make_shared_member(const std::string& name, std::int64_t slices, const std::string& pool = "lab");
// A report of GPUs of 16000 MiB, each cut into `split` free slices.
api::GpuNode make_report(const std::string& node, std::int64_t gpus, std::int64_t split = 10);
// Adds a pod with slices of a GPU to the report.
void show_pod(api::GpuNode& report, std::size_t gpu, const std::string& pod, std::int64_t slices);
// A valid job in namespace "ns" with the worker container kWorker.
api::GpuJob make_job(const std::string& name = "job", std::int64_t gpus = 1,
                     std::int64_t gpus_per_worker = 1);
// A lease of these nodes in this state.
api::Lease make_lease(const api::GpuJob& job, const std::string& state, const std::vector<std::string>& nodes,
                      std::int64_t n = 1);

// A StatefulSet's pod of this rank, bound to a node; its container waits to start.
api::Pod make_pod(const std::string& lease_id = "uid-job.1", std::int64_t rank = 0);
api::ContainerStatus& worker_of(api::Pod& pod);
api::Pod running(api::Pod pod);
// The worker container has ended; `message` is its termination message.
api::Pod ended(api::Pod pod, std::int64_t exit_code, const std::string& message = "",
               const std::string& reason = "Error");
// The kubelet has started the container again after its end.
api::Pod restarted(api::Pod pod);
// Somebody has deleted the pod.
api::Pod deleted(api::Pod pod, std::int64_t grace_seconds = 30);

// Results of gpupool-launch.
std::string exited_result(std::int64_t code, const std::string& more = "");
std::string signaled_result(std::int64_t signal, const std::string& more = "");
std::string interrupted_result();

template <class T>
std::shared_ptr<const T> share(T object) {
  return std::make_shared<const T>(std::move(object));
}

}  // namespace gpupool::test
