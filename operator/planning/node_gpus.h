#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "api/v1alpha1/gpu_pool.h"

namespace gpupool::planning {

// A node as a pool sees it.
struct PoolNode {
  std::string name;
  std::string uid;
  std::int64_t gpus = 0;    // allocatable of the pool's resource
  std::string model;        // empty: unknown
  std::int64_t memory = 0;  // bytes per GPU; 0: unknown
  bool ready = false;
  bool cordoned = false;
  bool leased = false;                     // in some job's lease, or carries a lease taint of any value
  std::vector<api::Taint> foreign_taints;  // of others, and such that they keep pods away

  bool usable() const { return ready && !cordoned && gpus > 0; }
  bool operator==(const PoolNode&) const = default;
};

// Whatever somebody wrote as a number of mebibytes: never negative, and too much is as much as there can be.
std::int64_t bytes_of(std::int64_t mebibytes);

// Count from status.allocatable; model and memory from node labels, ours before NVIDIA's feature discovery.
PoolNode describe_node(const api::Node& node, const std::string& resource_name);

// How many workers of this size fit on the node.
std::int64_t worker_slots(const PoolNode& node, std::int64_t gpus_per_worker);

// The value of our lease taint; empty if there is none.
std::string lease_taint(const api::Node& node);

// True if somebody has put a taint with our key and another effect than ours on the node: it would keep the
// workers of the lease away, or end them.
bool has_stray_lease_taint(const api::Node& node);

// The pool named by our pool taint; empty if there is none.
std::string pool_taint(const api::Node& node);

// Taint, label and annotation of this lease value are all there, and no stray taint is.
bool carries_lease(const api::Node& node, const std::string& id);

// Empty, or why the pool's `gpus` block refuses the node.
std::string gpu_mismatch(const PoolNode& node, const api::PoolGpus& wanted);

}  // namespace gpupool::planning
