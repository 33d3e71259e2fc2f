// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "api/core/pod_template.h"
#include "api/v1alpha1/gpu_job.h"
#include "planning/nodes/node_gpus.h"
#include "planning/nodes/resources.h"
#include "planning/nodes/tolerations.h"
#include "planning/pricing/price_list.h"

namespace gpupool::planning {

// What a job asks of a node, besides the pool's GPUs: by its template, and by the price that it pays. Equal
// for jobs that differ in nothing else; empty for a job that asks nothing. Comparable, because jobs that ask
// the same get one answer.
struct NodeNeeds {
  Tolerations tolerations = {};
  std::vector<std::pair<std::string, std::string>> labels = {};  // nodeSelector, in order of key
  // Required node affinity: one term must match; empty: any node. A term without requirements matches every
  // node, because gpupool adds one to it.
  std::vector<api::TemplateNodeTerm> terms = {};
  Resources requests = {};  // of one worker
  PriceLimit price = {};    // set by who knows the prices of the pool
  auto operator<=>(const NodeNeeds&) const = default;

  // True if some nodes may be unsuitable for other reasons than their GPUs and taints.
  bool narrow() const { return !labels.empty() || !terms.empty() || !requests.empty() || price.narrow(); }
};

// What gpupool-carry requests beside the worker of a job with spec.results.
inline constexpr std::int64_t kResultsMilliCpu = 50;
inline constexpr std::int64_t kResultsMebibytes = 64;

// gpu_resource: the pool's, which gpupool sets; it is left out. Returns no needs if the template cannot be
// parsed (validate_job tells why).
NodeNeeds needs_of(const api::GpuJobSpec& job, const std::string& gpu_resource);

// True if the labels and the name of the node are as nodeSelector and node affinity ask, and its GPUs cost no
// more than the job pays.
bool suits(const PoolNode& node, const NodeNeeds& needs);

// Number of such workers for which the node has room, beside the foreign pods, if no other worker runs there;
// 0 if it does not suit.
std::int64_t worker_slots(const PoolNode& node, std::int64_t gpus_per_worker, const NodeNeeds& needs);
// The same if the node has GPUs for `by_gpus` workers, and the needs are narrow or foreign pods are there.
std::int64_t fewer_slots(const PoolNode& node, std::int64_t by_gpus, const NodeNeeds& needs);

// Inline, because a plan of the queue asks each node.
inline std::int64_t worker_slots(const PoolNode& node, std::int64_t gpus_per_worker, const NodeNeeds& needs) {
  const auto by_gpus = node.gpus / gpus_per_worker;
  if (needs.narrow() || node.foreign) return fewer_slots(node, by_gpus, needs);
  return std::min(by_gpus, node.allocatable.pods);
}

// A node, and the number of workers for which it has room.
struct NodeSlots {
  const PoolNode* node;
  std::int64_t slots;
};

// Returns why the node cannot take one worker even without pods of others: "has no label zone=b, which
// spec.template.spec.nodeSelector asks for"; empty if it could. GPUs are not looked at.
std::string unmet_need(const PoolNode& node, const NodeNeeds& needs);

}  // namespace gpupool::planning
