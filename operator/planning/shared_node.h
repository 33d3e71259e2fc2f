#pragma once

#include <compare>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/core/node.h"
#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"
#include "planning/node_gpus.h"
#include "planning/slice_size.h"

namespace gpupool::planning {

// A GPU of a sharing pool as its node reports it.
struct SharedGpu {
  std::int64_t index = 0;
  std::string model;
  std::int64_t memory_mib = 0;
  SliceSize size;
  bool healthy = true;
  std::int64_t healthy_slices = 0;
  std::int64_t free = 0;  // healthy, and in no pod that is known to be on this GPU; negative if overbooked
  bool operator==(const SharedGpu&) const = default;
};

// Slices that one worker has or will have on this node, nobody knows on which GPU: reserved by a lease, or in
// a pod that the report does not show yet.
struct Claim {
  std::int64_t slices = 0;
  std::int64_t gpus = 1;  // that they are spread over; more than one only for whole GPUs
  std::int64_t per_gpu() const { return (slices + gpus - 1) / gpus; }
  auto operator<=>(const Claim&) const = default;
};

// A node of a sharing pool.
struct SharedNode {
  PoolNode node;                   // `gpus` and `leased` as for exclusive leases
  bool marked = false;             // carries the taint and the label of the pool
  std::string unusable;            // why nothing of it can be used; empty: it can
  std::vector<std::string> notes;  // GPUs left out, and why
  std::vector<SharedGpu> gpus;     // that the pool may use, in order of index
  std::vector<Claim> claims;       // their order means nothing
  std::int64_t advertised = 0;     // slices that the kubelet can hand out (status.allocatable)
  std::int64_t held = 0;           // slices of it that pods and claims have, on whichever GPU
  bool operator==(const SharedNode& other) const;
};

// One more worker with these slices. On a node with one GPU that works there is no doubt where they are.
void add_claim(SharedNode& node, std::int64_t slices);

// What is known from outside the report about the slices of a node.
struct Occupants {
  struct Pod {
    std::string ns;
    std::string name;
    std::int64_t slices = 0;
  };
  std::vector<Pod> pods;  // workers that are bound to the node and have not ended
  std::set<std::pair<std::string, std::string>> ended;  // workers (namespace, name) that have, or are gone
  std::vector<std::int64_t> reserved;                   // slices of each worker that is not bound yet
};

// report may be null. A pod that the report shows counts unless it is known to have ended; what the report
// does not show becomes a claim. Pure.
SharedNode describe_shared_node(const api::Node& node, const api::GpuNode* report, const api::GpuPool& pool,
                                const Occupants& occupants);

}  // namespace gpupool::planning
