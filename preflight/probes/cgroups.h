// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "checks/cgroups.h"
#include "probes/host_root.h"

namespace gpupool::probes {

checks::CgroupFacts cgroups(const HostRoot& root);

}  // namespace gpupool::probes
