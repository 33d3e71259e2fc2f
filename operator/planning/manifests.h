#pragma once

#include <optional>
#include <string>

#include "api/v1alpha1/gpu_job.h"

namespace gpupool::planning {

// The init container and the volume that bring gpupool-launch into a worker pod.
inline constexpr char kLauncherName[] = "gpupool-launcher";
inline constexpr char kLauncherDirectory[] = "/gpupool";
inline constexpr std::int64_t kMasterPort = 29500;  // torchrun's default

struct ManifestOptions {
  std::string launcher_image;
  std::string gpu_resource;  // GpuPoolSpec::worker_resource()
  std::optional<std::int64_t> max_grace_seconds =
      std::nullopt;  // the pool caps how long a worker may take to end
};

// The objects to create for a lease, as JSON. service is empty for one worker.
struct Manifests {
  std::string service;
  std::string workload;
  // Of a gang: a Job with its pods, never created. A StatefulSet's template is only half checked by older API
  // servers (1.20).
  std::string rehearsal = {};
};

// `<job>-<n>`, for all children of a lease value.
std::string child_name(const api::GpuJob& job, const std::string& lease_id);
// One worker is a batch/v1 Job, more are an apps/v1 StatefulSet.
bool is_gang(const api::GpuJobSpec& spec);
// How ranks reach rank 0, inside the job's namespace.
std::string master_address(const api::GpuJob& job, const std::string& lease_id);
// The name of the container that runs the user's command.
std::string worker_container(const api::GpuJobSpec& spec);

// job must be valid (validate_job) and hold a lease. Whatever the template has and gpupool does not set stays
// as it is; its finalizers and owner references are dropped, because controllers would copy them to pods.
Manifests make_manifests(const api::GpuJob& job, const ManifestOptions& options);
// One of the pods that the workload makes, as JSON, to ask the API server about: what it answers is what it
// answers to the workload's controller.
std::string make_worker_pod(const api::GpuJob& job, const ManifestOptions& options);

}  // namespace gpupool::planning
