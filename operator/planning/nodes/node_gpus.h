// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "api/v1alpha1/gpu_pool.h"
#include "base/boxed.h"
#include "base/word.h"
#include "planning/nodes/resources.h"

namespace gpupool::planning {

// What foreign pods hold on a node: all pods that are not workers of jobs, those of DaemonSets too.
struct ForeignShare {
  Resources held = {};
  std::int64_t gpus = 0;     // of the pool's resource
  std::string gpu_pod = {};  // one that holds some: "namespace/name"
  bool operator==(const ForeignShare&) const = default;
};

// What planning needs to know about a node of a pool.
struct PoolNode {
  std::string name;
  std::string uid;
  std::int64_t gpus = 0;    // allocatable number of the pool's resource, without what foreign pods hold
  std::string model;        // empty: unknown
  std::int64_t memory = 0;  // bytes per GPU; 0: unknown
  base::Word offers;        // if it has none: a resource of another name that its GPUs seem to be offered as
  bool ready = false;
  bool cordoned = false;
  bool draining = false;                   // its jobs leave it (node_drain.h)
  bool leased = false;                     // in the lease of a job, or has lease marks of any value
  std::vector<api::Taint> foreign_taints;  // taints of others that keep pods away
  Resources allocatable;                   // all of the node, GPUs included
  base::Boxed<ForeignShare> foreign;       // null: foreign pods hold nothing
  // For its labels, which are not copied; null: the node has none. Set by who keeps the node.
  std::shared_ptr<const api::Node> object;

  std::int64_t all_gpus() const { return gpus + (foreign ? foreign->gpus : 0); }
  const Resources& held_by_foreign() const;
  const std::map<std::string, std::string>& labels() const;
  // True if new jobs may come, as far as the node's taints let them.
  bool takes_jobs() const { return ready && !cordoned && !draining; }
  bool usable() const { return takes_jobs() && gpus > 0; }
  // Compares of `object` only the labels.
  bool operator==(const PoolNode& other) const;
};

// Converts MiB to bytes; the result is between 0 and the largest value.
std::int64_t bytes_of(std::int64_t mebibytes);

// Subtracts what foreign pods hold. REQUIRES: called once for a described node.
void subtract(PoolNode& node, ForeignShare foreign);
// Returns the node as it would be without foreign pods.
PoolNode without_foreign(PoolNode node);

// The number of GPUs comes from status.allocatable; model and memory from node labels, gpupool's before those
// of the vendor in whose domain the resource is: AMD, Intel; NVIDIA for any other.
PoolNode describe_node(const api::Node& node, const std::string& resource_name);

// Returns "2 of 8 GPUs are held by pods of others (team/train)"; empty if foreign pods hold none.
std::string foreign_gpus_text(const PoolNode& node);

// Returns why the pool's `gpus` block excludes the node; empty if it does not.
std::string gpu_mismatch(const PoolNode& node, const api::PoolGpus& wanted);

}  // namespace gpupool::planning
