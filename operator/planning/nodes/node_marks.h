// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "api/core/node.h"
#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"

namespace gpupool::planning {

// The marks of gpupool on a node, except those of leases. nullopt: nothing under this key.
struct NodeMarks {
  std::optional<std::string> pool_taint;    // in a sharing pool
  std::optional<std::string> member_label;  // in a sharing pool
  std::optional<std::string> model_label;   // from the device plugin's report
  std::optional<std::string> memory_label;
  bool operator==(const NodeMarks&) const = default;
};

// Returns the pool in the taint gpupool.dev/pool; empty if there is none.
std::string pool_taint(const api::Node& node);

// Returns the marks that the node has now.
NodeMarks marks_of(const api::Node& node);

// Returns the marks that the node should have. Pure. pool: the node's pool, or null. in_use: workers of a
// sharing pool are on the node or have slices reserved there; then the marks of their pool stay. report: null
// if there is none; then the GPU labels stay as they are. A label that is not true for all GPUs of the node
// is removed.
NodeMarks wanted_marks(const api::Node& node, const api::GpuPool* pool, const api::GpuNode* report,
                       bool in_use);

}  // namespace gpupool::planning
