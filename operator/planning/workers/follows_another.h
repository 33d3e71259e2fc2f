// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "planning/workers/worker_result.h"

namespace gpupool::planning {

// True if the command seems to have failed because another worker of its gang had ended: SIGTERM ended it
// from inside of the pod (torchrun does that to its other processes), or its last lines tell of a lost
// connection, in the words of gloo, NCCL and the kernel. A guess: it decides which of several crashes is
// shown, never whether one is charged.
bool follows_another_end(const WorkerResult& result);

}  // namespace gpupool::planning
