// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "checks/container_runtime.h"
#include "probes/host_root.h"

namespace gpupool::probes {

checks::ContainerRuntimeFacts container_runtime(const HostRoot& root);

}  // namespace gpupool::probes
