#pragma once

#include "controllers/cluster/caches.h"
#include "controllers/cluster/node_readiness.h"
#include "controllers/cluster/pool_queue.h"
#include "controllers/sweeper/foreign_pods.h"
#include "runtime/controller/controller.h"

namespace gpupool::controllers {

// The queues that changes lead to.
struct Queues {
  runtime::WorkQueue& jobs;
  runtime::WorkQueue& pools;
  runtime::WorkQueue& nodes;  // of the node sweeper
  runtime::WorkQueue& pods;   // of the pod sweeper
  runtime::WorkQueue& marks;  // of the node marker
};

// Maps every change in the caches to the keys to look at. Once, before the manager starts; everything
// outlives the caches' threads.
void connect(Caches& caches, PoolQueue& pool_queue, NodeReadiness& readiness, ForeignPods& foreign,
             Queues queues);

}  // namespace gpupool::controllers
