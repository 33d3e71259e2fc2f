// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace gpupool::planning {

inline constexpr char kSharedMemoryName[] = "gpupool-shm";  // of the volume

// Mounts a volume in memory at /dev/shm in all containers of the pod, which share it as they share the
// runtime's own, of 64 MiB: too small for the DataLoader workers of PyTorch. Its pages count as memory of the
// containers that use it. Its size is the worker's memory limit; without one the kubelet chooses it (the
// node's allocatable memory; before Kubernetes 1.22 half of the node's memory, also with a limit). Does
// nothing if the worker mounts something there itself, or the pod uses the IPC namespace of its node. A
// container with a mount of its own keeps that one.
//
// pod_spec: a PodSpec with at least one container; the first one is the worker.
void add_shared_memory(nlohmann::json& pod_spec);

}  // namespace gpupool::planning
