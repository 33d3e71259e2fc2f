#pragma once

#include <string>

#include "checks/kubelet.h"
#include "gather/host_root.h"

namespace gpupool::gather {

checks::KubeletFacts kubelet(const HostRoot& root, const std::string& directory);

}  // namespace gpupool::gather
