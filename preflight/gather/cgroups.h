#pragma once

#include "checks/cgroups.h"
#include "gather/host_root.h"

namespace gpupool::gather {

checks::CgroupFacts cgroups(const HostRoot& root);

}  // namespace gpupool::gather
