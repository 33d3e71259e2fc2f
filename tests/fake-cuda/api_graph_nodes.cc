// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/fake-cuda/call.h"
#include "tests/fake-cuda/graphs.h"

// The driver's functions about single nodes of graphs.
using namespace gpupool::fake_cuda;

namespace {

using Dependencies = GraphNode* const*;

GraphNode* find_node(Driver& d, const GraphNode* node) {
  for (const Graph* graph : d.objects().graphs) {
    for (const auto& known : graph->nodes) {
      if (known.get() == node) return known.get();
    }
  }
  return nullptr;
}

// `body(driver, node)` for a node of this type.
template <class Body>
Result call_for_node(const char* name, GraphNode* asked, NodeType type, Body body) {
  return call(name, [&](Driver& d) {
    const GraphNode* const node = find_node(d, asked);
    return node != nullptr && node->type == type ? body(d, *node) : Result::kInvalidValue;
  });
}

Result add_of_type(Driver& d, GraphNode** out, Graph& graph, GraphNodeParams& params) {
  switch (static_cast<NodeType>(params.type)) {
    case NodeType::kAllocation: {
      MemAllocNodeParams& asked = params.of.allocation;
      if (asked.pool.location.type != kLocationDevice) return Result::kNotSupported;
      Device* const device = d.device(asked.pool.location.id);
      if (device == nullptr) return Result::kInvalidDevice;
      return add_allocation(d, graph, *device, asked.bytes, &asked.pointer, out);
    }
    case NodeType::kFree:
      return add_free(d, graph, params.of.freed, out);
    case NodeType::kGraph:
      if (!d.objects().graphs.contains(params.of.child) || params.of.child == &graph)
        return Result::kInvalidValue;
      return put(out, add_child(d, graph, *params.of.child));
    case NodeType::kKernel:
    case NodeType::kEmpty:
      return put(out, add_node(graph, static_cast<NodeType>(params.type)));
    default:
      return Result::kNotSupported;
  }
}

Result add_any(const char* name, GraphNode** out, Graph* graph, GraphNodeParams* params) {
  return call(name, [&](Driver& d) {
    if (!d.objects().graphs.contains(graph) || out == nullptr || params == nullptr)
      return Result::kInvalidValue;
    return add_of_type(d, out, *graph, *params);
  });
}

}  // namespace

CUDA_FUNCTION(cuGraphAddNode)(GraphNode** out, Graph* graph, Dependencies, std::size_t,
                              GraphNodeParams* params) {
  return add_any(__func__, out, graph, params);
}
CUDA_FUNCTION(cuGraphAddNode_v2)
(GraphNode** out, Graph* graph, Dependencies, const void*, std::size_t, GraphNodeParams* params) {
  return add_any(__func__, out, graph, params);
}
CUDA_FUNCTION(cuGraphAddChildGraphNode)
(GraphNode** out, Graph* graph, Dependencies, std::size_t, Graph* child) {
  return call(__func__, [&](Driver& d) {
    const auto& graphs = d.objects().graphs;
    if (!graphs.contains(graph) || !graphs.contains(child) || graph == child) return Result::kInvalidValue;
    return out != nullptr ? put(out, add_child(d, *graph, *child)) : Result::kInvalidValue;
  });
}
CUDA_FUNCTION(cuGraphChildGraphNodeGetGraph)(GraphNode* node, Graph** out) {
  return call_for_node(__func__, node, NodeType::kGraph,
                       [&](Driver&, const GraphNode& known) { return put(out, known.child); });
}
CUDA_FUNCTION(cuGraphMemAllocNodeGetParams)(GraphNode* node, MemAllocNodeParams* out) {
  return call_for_node(__func__, node, NodeType::kAllocation, [&](Driver&, const GraphNode& known) {
    if (out == nullptr) return Result::kInvalidValue;
    *out = {};
    out->pool.type = 1;
    out->pool.location = {.type = kLocationDevice, .id = known.memory->device->ordinal};
    out->bytes = known.memory->bytes;
    out->pointer = known.memory->address;
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuGraphMemFreeNodeGetParams)(GraphNode* node, Pointer* out) {
  return call_for_node(__func__, node, NodeType::kFree,
                       [&](Driver&, const GraphNode& known) { return put(out, known.freed); });
}
