// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_pool.h"
#include "planning/queue/node_picker.h"
#include "planning/queue/verdict.h"

// The nodes that a pool keeps free for jobs that lose a node or must leave one (GpuPoolSpec::spares). Pure.
//
// Of the free nodes that a job could use, the last by name are spares; nodes with foreign taints only if
// there are too few others. Which ones they are is stored nowhere: when one is used, lost, cordoned or
// drained, the next free node takes its place.
namespace gpupool::planning {

// Returns how many nodes the pool keeps free; 0: none.
std::int64_t count_of_spares(const api::GpuPool& pool);

// True if the node can be a spare while it is free.
bool may_be_spare(const PoolNode& node, const api::PoolGpus& wanted);

// Returns for each node whether it is a spare. nodes: in order of name; null: it cannot be one.
std::vector<bool> spares_among(const std::vector<const PoolNode*>& nodes, std::int64_t count);

// The same for all nodes of a pool, as they are now.
std::vector<bool> spares_now(const std::vector<PoolNode>& nodes, const api::GpuPool& pool);

// Returns ", besides the 2 spare nodes that spec.spares of the pool keeps free"; empty for 0.
std::string besides_spares(std::int64_t count);

// During the planning of a queue. nodes: all of the pool, in order of name.

// Sets Candidate::spare of the free nodes that are spares now.
void mark_spares(std::vector<Candidate>& nodes, std::int64_t count);

// Leaves those that would be no spares if no job held a node. sound: and if all nodes were ready, and not
// cordoned or drained. from: pointers into `nodes`.
std::vector<const Candidate*> without_spares(std::vector<const Candidate*> from,
                                             const std::vector<Candidate>& nodes, std::int64_t count,
                                             bool sound);

// A job with spec.nodes may take spares among them if as many other nodes can become spares.

// Returns whether such nodes are free now and reserved for nobody.
bool can_replace_spares(const std::vector<const Candidate*>& named, const std::vector<Candidate>& nodes);
// Reserves free nodes that can become spares when the job, which waits, takes its nodes.
void keep_for_spares(const std::vector<const Candidate*>& named, std::vector<Candidate>& nodes,
                     std::int64_t count);
// Returns why the pool could not keep its spares besides these nodes, even if no job held a node.
std::optional<Verdict> too_few_for_spares(const std::vector<const Candidate*>& named,
                                          const std::vector<Candidate>& nodes, const api::GpuPool& pool);

}  // namespace gpupool::planning
