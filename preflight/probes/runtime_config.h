// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "checks/container_runtime.h"
#include "probes/host_root.h"

namespace gpupool::probes {

// /etc/containerd/config.toml of version 1, 2 or 3, with what it imports. Without a file: containerd's
// defaults.
checks::RuntimeConfig containerd_config(const HostRoot& root);

// /etc/crio/crio.conf and crio.conf.d. Without a file: CRI-O's defaults.
checks::RuntimeConfig crio_config(const HostRoot& root);

// Whether a configured program is not there: a path, or a name in the usual folders.
bool binary_missing(const HostRoot& root, const std::string& binary);

}  // namespace gpupool::probes
