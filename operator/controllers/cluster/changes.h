// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"
#include "controllers/cluster/caches.h"
#include "runtime/cache/store.h"
#include "runtime/queue/work_queue.h"

// Which changes in the caches concern which queue. Pure; called by handlers.
namespace gpupool::controllers {

// Objects of the first list are background work.
template <class K>
runtime::Priority priority_of(const runtime::Change<K>& change) {
  return change.initial ? runtime::Priority::kBackground : runtime::Priority::kLive;
}

// True if the job got another lease, or its lease got other nodes.
bool changes_lease(const runtime::Change<api::GpuJob>& change);
// Returns the names of the nodes that the job has given back by this change.
std::vector<std::string> released_nodes(const runtime::Change<api::GpuJob>& change);
// True if the change of a job can matter to the queue of its pool.
bool concerns_queue(const runtime::Change<api::GpuJob>& change);

// True if the change of a pool can matter to anything except readers of its status.
bool concerns_others(const runtime::Change<api::GpuPool>& change);
// True if the price of a pool with spec.price.demand has changed. A pool that was not there before, or is not
// any more: false.
bool changes_prices(const runtime::Change<api::GpuPool>& change);
// True if the change of a node can matter to a pool. Heartbeats do not, and of its annotations only kDrain
// does.
bool concerns_pools(const runtime::Change<api::Node>& change);

// True if the change of a node's report can matter to the node's marks or to a pool. Heartbeats, and the use
// of the GPUs that comes with them, do not.
bool concerns_pools(const runtime::Change<api::GpuNode>& change);

// Returns the pods, by namespace and name, whose excesses of memory have begun, ended or got another
// consequence by this change. Their figures change all the time and do not count. At most twice
// api::GpuNodeStatus::excesses.
std::vector<api::ObjectKey> pods_in_excess(const runtime::Change<api::GpuNode>& change);

// True if the worker may use GPUs of its node; false for null.
bool occupies_node(const std::shared_ptr<const api::Pod>& pod);

}  // namespace gpupool::controllers
