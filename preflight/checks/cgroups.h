// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "checks/finding.h"

namespace gpupool::checks {

struct CgroupFacts {
  int version = 0;                    // of the hierarchy at /sys/fs/cgroup: 1 or 2; 0: there is none
  std::set<std::string> controllers;  // that can be used in it
};

// A kubelet needs cpu, cpuset, memory and pids; in v1 the access to GPUs is a controller too (devices), in v2
// it is a BPF program.
Finding judge_cgroups(const CgroupFacts& facts);

}  // namespace gpupool::checks
