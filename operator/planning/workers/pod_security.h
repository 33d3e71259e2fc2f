// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/core/pod_template.h"

namespace gpupool::planning {

// A user who may create GpuJobs must not gain access through the pods that gpupool creates for them. Each
// function returns an empty text, or the field (relative to spec.template) and why it is not allowed.

// Finds what gives access to the node or to other pods on it: everything that the profile "baseline" of the
// Pod Security Standards forbids (https://kubernetes.io/docs/concepts/security/pod-security-standards/, of
// Kubernetes 1.36, for servers of any version), and what would preempt other pods or show other GPUs.
// `podSecurity: Privileged` allows it.
std::string beyond_baseline(const api::PodTemplate& pod);

// Finds requests for GPUs that the lease does not contain: in another container than the worker's, or of
// another kind. Never allowed.
std::string beyond_lease(const api::PodTemplate& pod, const std::string& worker_resource);

}  // namespace gpupool::planning
