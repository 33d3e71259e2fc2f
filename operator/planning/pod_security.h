#pragma once

#include <string>

#include "api/core/pod_template.h"

namespace gpupool::planning {

// Whoever may write a GpuJob must not reach, through the pods that gpupool makes of it, what he could not
// reach himself. Each of these is empty, or names a field (relative to spec.template) and says why not.

// What reaches the node or other pods on it: all that the baseline of the Pod Security Standards forbids
// (https://kubernetes.io/docs/concepts/security/pod-security-standards/, of Kubernetes 1.36, whatever the
// server's version), and what would preempt other pods or show other GPUs. `podSecurity: Privileged` allows
// it.
std::string beyond_baseline(const api::PodTemplate& pod);

// GPUs that the lease does not cover: in another container than the worker, or of another kind. Never
// allowed.
std::string beyond_lease(const api::PodTemplate& pod, const std::string& worker_resource);

}  // namespace gpupool::planning
