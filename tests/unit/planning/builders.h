#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"
#include "planning/node_gpus.h"

// Objects as small as a test needs them, with the fields that Kubernetes always sets.
namespace gpupool::test {

inline constexpr char kGpus[] = "nvidia.com/gpu";
inline constexpr char kSlices[] = "gpupool.dev/vgpu";
inline constexpr char kWorker[] = "train";

// So many seconds after one fixed moment.
base::WallTime at(std::int64_t seconds);

// Ready, with allocatable GPUs; its UID is "uid-" and the name.
api::Node make_node(const std::string& name, std::int64_t gpus = 1, const std::string& model = "A");
planning::PoolNode make_pool_node(const std::string& name, std::int64_t gpus = 1,
                                  const std::string& model = "A");
api::GpuPool make_pool(const std::string& name = "lab");
// A pool with sharing, and a node of it with its marks and so many slices to hand out.
api::GpuPool make_sharing_pool(const std::string& name = "lab");
api::Node make_shared_member(const std::string& name, std::int64_t slices, const std::string& pool = "lab");
// What the plugin of a node says of GPUs of 16000 MiB, each cut into `split` slices that nobody has.
api::GpuNode make_report(const std::string& node, std::int64_t gpus, std::int64_t split = 10);
// A pod takes slices of a GPU in the report.
void show_pod(api::GpuNode& report, std::size_t gpu, const std::string& pod, std::int64_t slices);
// A valid job of namespace "ns" with the worker container kWorker.
api::GpuJob make_job(const std::string& name = "job", std::int64_t gpus = 1,
                     std::int64_t gpus_per_worker = 1);
// A lease over these nodes, as far as `state`.
api::Lease make_lease(const api::GpuJob& job, const std::string& state, const std::vector<std::string>& nodes,
                      std::int64_t n = 1);

// A pod of a StatefulSet for this rank, bound to a node, with its container waiting to start.
api::Pod make_pod(const std::string& lease_id = "uid-job.1", std::int64_t rank = 0);
api::ContainerStatus& worker_of(api::Pod& pod);
api::Pod running(api::Pod pod);
// The worker container has ended; `message` is its termination message.
api::Pod ended(api::Pod pod, std::int64_t exit_code, const std::string& message = "",
               const std::string& reason = "Error");
// The kubelet has started the container again after its end.
api::Pod restarted(api::Pod pod);
// Somebody deletes it.
api::Pod deleted(api::Pod pod, std::int64_t grace_seconds = 30);

// What gpupool-launch leaves behind.
std::string exited_result(std::int64_t code, const std::string& more = "");
std::string signaled_result(std::int64_t signal, const std::string& more = "");
std::string interrupted_result();

template <class T>
std::shared_ptr<const T> share(T object) {
  return std::make_shared<const T>(std::move(object));
}

}  // namespace gpupool::test
