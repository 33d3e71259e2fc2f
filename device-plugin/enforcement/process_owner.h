// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpupool::enforcement {

// The UID of the pod that a process with this /proc/PID/cgroup belongs to; empty if it is no pod's. Knows the
// cgroups that kubelets make, of cgroup v1 and v2, by systemd (kubepods-burstable-pod1234_abcd.slice) and
// without it (kubepods/burstable/pod1234-abcd). Pure.
std::string pod_of_cgroup(std::string_view text);

// Reads it for a process of this node. Empty also for a process that has ended. `proc` is where procfs is
// mounted.
std::string pod_of_process(std::int64_t pid, const std::string& proc = "/proc");

}  // namespace gpupool::enforcement
