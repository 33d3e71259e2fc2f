// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace gpupool::limiter {

void forget_context_handles_after_fork();

}  // namespace gpupool::limiter
