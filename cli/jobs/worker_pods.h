// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "api/core/pod.h"

namespace gpupool::jobs {

// The rank by the name of a StatefulSet's pod ("x-1-12" -> 12); 0 for the pod of a Job. For showing: what a
// pod is called proves nothing.
std::int64_t rank_of_worker(const api::Pod& pod);

}  // namespace gpupool::jobs
