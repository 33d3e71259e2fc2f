// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gpupool::limiter {

// In the child of a fork: nothing of the parent's allocations, pools, graphs and contexts is the child's.
void after_fork();

}  // namespace gpupool::limiter
