// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/v1alpha1/pool_queue.h"

namespace gpupool::planning {

// Returns what a person has to correct in spec.queue of a pool; empty if nothing.
std::string check_queue(const api::PoolQueueSpec& spec);

}  // namespace gpupool::planning
