// SPDX-License-Identifier: Apache-2.0
#include "limiter/cuda/after_fork.h"

#include "limiter/cuda/allocations.h"
#include "limiter/cuda/charge.h"
#include "limiter/cuda/context_charge.h"
#include "limiter/cuda/contexts.h"
#include "limiter/cuda/graphs.h"
#include "limiter/cuda/physical.h"
#include "limiter/cuda/pool_charge.h"

namespace gpupool::limiter {

void after_fork() {
  forget_allocations_after_fork();
  forget_pools_after_fork();
  forget_contexts_after_fork();
  forget_physical_after_fork();
  forget_graphs_after_fork();
  forget_context_handles_after_fork();
  Unsettled::forget_after_fork();
}

}  // namespace gpupool::limiter
