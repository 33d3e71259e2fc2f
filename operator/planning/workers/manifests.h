// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/v1alpha1/gpu_job.h"
#include "planning/workers/worker_keeper.h"

namespace gpupool::planning {

// Name of the init container, and mount path of the volume, by which gpupool-launch gets into a worker pod.
inline constexpr char kLauncherName[] = "gpupool-launcher";
inline constexpr char kLauncherDirectory[] = "/gpupool";
inline constexpr std::int64_t kMasterPort = 29500;  // torchrun's default

// Images of what gpupool adds to worker pods.
struct WorkerImages {
  std::string launcher;
  std::string carry;  // gpupool-carry; used for spec.source and spec.results alone
};

struct ManifestOptions {
  WorkerImages images;
  std::string gpu_resource;  // GpuPoolSpec::worker_resource()
  std::optional<std::int64_t> max_grace_seconds =
      std::nullopt;  // upper bound for the grace period of workers, in seconds
  std::optional<KeeperAccess> keeper = std::nullopt;  // where workers send what they print
};

// The objects to create for a lease, as JSON. service is empty for one worker.
struct Manifests {
  std::string service;
  std::string workload;
  // For a gang: a Job with the gang's pods, used only in dry runs. Old API servers (1.20) check the template
  // of a StatefulSet only in part.
  std::string rehearsal = {};
};

// Returns `<job>-<n>`, the name of all children of a lease value, except some Services.
std::string child_name(const api::GpuJob& job, const std::string& lease_id);
// Returns the same, but `j-<job>-<n>` if the job's name begins with a digit: the name of a Service is a DNS
// label of RFC 1035, which begins with a letter.
std::string service_name(const api::GpuJob& job, const std::string& lease_id);
// True if the workers are an apps/v1 StatefulSet (several workers); one worker is a batch/v1 Job.
bool is_gang(const api::GpuJobSpec& spec);
// Returns the host name of rank 0, valid inside the job's namespace.
std::string master_address(const api::GpuJob& job, const std::string& lease_id);
// Returns the name of the container that runs the user's command.
std::string worker_container(const api::GpuJobSpec& spec);

// Fields of the template that gpupool does not set stay as they are. Finalizers and owner references are
// dropped, because controllers would copy them to pods. Pure. REQUIRES: the job is valid (validate_job) and
// has a lease.
Manifests make_manifests(const api::GpuJob& job, const ManifestOptions& options);
// Returns one pod of the workload as JSON, for a dry run: the API server answers it as it answers the
// workload's controller.
std::string make_worker_pod(const api::GpuJob& job, const ManifestOptions& options);

}  // namespace gpupool::planning
