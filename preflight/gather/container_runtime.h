#pragma once

#include "checks/container_runtime.h"
#include "gather/host_root.h"

namespace gpupool::gather {

checks::ContainerRuntimeFacts container_runtime(const HostRoot& root);

}  // namespace gpupool::gather
