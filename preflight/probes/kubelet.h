// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "checks/kubelet.h"
#include "probes/host_root.h"

namespace gpupool::probes {

checks::KubeletFacts kubelet(const HostRoot& root, const std::string& directory);

}  // namespace gpupool::probes
