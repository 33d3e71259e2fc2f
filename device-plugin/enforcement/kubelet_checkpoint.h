// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace gpupool::enforcement {

// The UID of the pod that holds a device, by resource and device ID.
using PodUids = std::map<std::pair<std::string, std::string>, std::string>;

// From the kubelet's own record of allocations, kubelet_internal_checkpoint beside the sockets of device
// plugins: podresources tells names of pods and no UIDs. Knows the forms of Kubernetes 1.20 and later, with
// devices by NUMA node, and the list before. kParse for anything else: then nobody's UID is known. Pure;
// allocates at most a few times the text.
base::Result<PodUids> read_checkpoint(std::string_view text);

}  // namespace gpupool::enforcement
