#pragma once

#include <optional>
#include <string>

#include "api/core/node.h"
#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"

namespace gpupool::planning {

// What a node should carry besides leases. Absent: nothing under this key.
struct NodeMarks {
  std::optional<std::string> pool_taint;    // of a sharing pool
  std::optional<std::string> member_label;  // likewise
  std::optional<std::string> model_label;   // from the device plugin's report
  std::optional<std::string> memory_label;
  bool operator==(const NodeMarks&) const = default;
};

// What it carries now.
NodeMarks marks_of(const api::Node& node);

// pool: the node belongs to it; null: to none. in_use: workers of a sharing pool are on the node, or have
// slices reserved there; while they are, the marks of their pool stay. report: null if there is none, and
// then the labels stay as they are; labels for a model that only some of its GPUs have are taken off. Pure.
NodeMarks wanted_marks(const api::Node& node, const api::GpuPool* pool, const api::GpuNode* report,
                       bool in_use);

}  // namespace gpupool::planning
