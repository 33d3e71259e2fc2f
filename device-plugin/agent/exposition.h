// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "agent/snapshot.h"

namespace gpupool::agent {

// GPUs and slices in the Prometheus text format, to append to the process's metrics. Written from a snapshot
// and not kept as gauges, because pods and GPUs come and go. Slices beyond the first 2000 are left out. Pure.
std::string expose(const Snapshot& snapshot);

}  // namespace gpupool::agent
