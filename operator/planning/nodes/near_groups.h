// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/near.h"
#include "planning/nodes/node_needs.h"

// Which nodes of a job are near each other (spec.near). Nodes with the same value of a label are one group; a
// node without the label is a group of its own. Pure.
namespace gpupool::planning {

// Returns spec.near of the job, or else of the pool; empty for a job with one worker or with spec.nodes.
api::Near near_of(const api::GpuJobSpec& job, const std::optional<api::Near>& of_pool);

// For people: " on nodes with the same rack"; empty unless it is required.
std::string near_text(const api::Near& near);

using Indexes = std::vector<std::size_t>;  // of nodes in a list, in rising order

// The nodes of each group of the last label, in order of the first node.
std::vector<Indexes> far_groups(const api::Near& near, const std::vector<const PoolNode*>& nodes);

struct NearChoice {
  std::vector<std::int64_t> groups = {};         // number of groups, from far to near
  std::pair<std::int64_t, std::int64_t> cost{};  // of these nodes
  Indexes nodes = {};                            // to choose from
};
// Returns what a job costs on these nodes; nothing if they do not suffice.
using CostOf = std::function<std::optional<std::pair<std::int64_t, std::int64_t>>(const Indexes&)>;

// Returns the nodes among which a job finds its place: in the fewest groups of the last label; among these in
// the fewest groups of the label before it, and so on; then at the lowest cost, then in the smallest group
// that suffices, so that large groups stay whole. No choice has fewer groups of the last label; if one
// suffices, none has fewer of the label before it. A job that needs several gets the largest ones and, last,
// the smallest that suffices; other groups may cost less then. Nothing if the nodes do not suffice, or
// if one group is required and none does. O(labels x nodes x log nodes), and the calls of cost_of.
// REQUIRES: near.labels is not empty.
std::optional<NearChoice> choose_near(const api::Near& near, const std::vector<NodeSlots>& nodes,
                                      std::int64_t workers, const CostOf& cost_of);

}  // namespace gpupool::planning
