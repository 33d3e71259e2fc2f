// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/graphs.h"

#include <algorithm>

namespace gpupool::fake_cuda {

namespace {

// The bytes of each device that are taken at the busiest moment of a launch.
std::map<Device*, std::uint64_t> peaks(Driver& driver, const GraphExec& exec) {
  std::map<Device*, std::int64_t> now;
  std::map<Device*, std::uint64_t> peak;
  for (const auto& node : exec.nodes) {
    if (node->type == NodeType::kAllocation) {
      auto& bytes = now[node->memory->device];
      bytes += static_cast<std::int64_t>(node->memory->size);
      if (bytes > 0)
        peak[node->memory->device] = std::max(peak[node->memory->device], static_cast<std::uint64_t>(bytes));
    } else if (node->type == NodeType::kFree) {
      const auto own = std::ranges::find_if(exec.nodes, [&](const auto& other) {
        return other->memory != nullptr && other->memory->address == node->freed;
      });
      if (own != exec.nodes.end()) {
        now[(*own)->memory->device] -= static_cast<std::int64_t>((*own)->memory->size);
      } else if (const Range* const range = driver.memory().at(node->freed);
                 range != nullptr && range->graph != nullptr) {
        now[range->device] -= static_cast<std::int64_t>(range->graph->size);
      }
    }
  }
  return peak;
}

}  // namespace

Graph* make_graph(Driver& driver) {
  auto* const made = new Graph;
  driver.objects().graphs.insert(made);
  return made;
}

GraphNode* add_node(Graph& graph, NodeType type) {
  graph.nodes.push_back(std::make_shared<GraphNode>(GraphNode{.type = type}));
  return graph.nodes.back().get();
}

Result add_allocation(Driver& driver, Graph& graph, Device& device, std::uint64_t bytes, Pointer* out,
                      GraphNode** node) {
  if (bytes == 0 || out == nullptr) return Result::kInvalidValue;
  if (bytes > device.memory) return Result::kOutOfMemory;
  (void)driver;
  auto memory = std::make_shared<GraphMemory>();
  memory->size = round_up(bytes, kGranule);
  memory->address = reserve_addresses(memory->size, kGranule);
  if (memory->address == 0) return Result::kOutOfMemory;
  memory->device = &device;
  memory->bytes = bytes;
  *out = memory->address;
  GraphNode* const made = add_node(graph, NodeType::kAllocation);
  made->memory = std::move(memory);
  if (node != nullptr) *node = made;
  return Result::kSuccess;
}

GraphNode* add_child(Driver& driver, Graph& graph, const Graph& child) {
  GraphNode* const made = add_node(graph, NodeType::kGraph);
  made->child = make_graph(driver);
  made->child->nodes = child.nodes;
  return made;
}

void destroy_graph(Driver& driver, Graph* graph) {  // NOLINT(misc-no-recursion)
  for (const auto& node : graph->nodes) {
    // An executable, or another copy, may still have the node.
    if (node->child != nullptr && node.use_count() == 1) destroy_graph(driver, node->child);
  }
  driver.objects().graphs.erase(graph);
  delete graph;
}

std::vector<std::shared_ptr<GraphNode>> all_nodes(const Graph& graph) {  // NOLINT(misc-no-recursion)
  std::vector<std::shared_ptr<GraphNode>> found;
  for (const auto& node : graph.nodes) {
    if (node->child == nullptr) {
      found.push_back(node);
      continue;
    }
    const auto inner = all_nodes(*node->child);
    found.insert(found.end(), inner.begin(), inner.end());
  }
  return found;
}

Result add_free(Driver& driver, Graph& graph, Pointer address, GraphNode** node) {
  const auto here = [&](const auto& other) {
    return other->memory != nullptr && other->memory->address == address;
  };
  const auto freed_here = [&](const auto& other) {
    return other->type == NodeType::kFree && other->freed == address;
  };
  const Range* const range = driver.memory().at(address);
  const bool elsewhere = range != nullptr && range->source == Source::kGraph;
  // Memory of another graph may be freed here before that one was launched.
  const bool known = elsewhere || std::ranges::any_of(driver.objects().graphs, [&](const Graph* other) {
                       return std::ranges::any_of(other->nodes, here);
                     });
  if (!known || std::ranges::any_of(graph.nodes, freed_here)) return Result::kInvalidValue;
  GraphNode* const made = add_node(graph, NodeType::kFree);
  made->freed = address;
  if (node != nullptr) *node = made;
  return Result::kSuccess;
}

Result begin_capture(Driver& driver, Stream& stream, Graph* graph) {
  if (stream.capture != nullptr) return Result::kIllegalState;
  stream.capture = graph != nullptr ? graph : make_graph(driver);
  return Result::kSuccess;
}

Result reserve_for(Driver& driver, const GraphExec& exec) {
  for (const auto& [device, peak] : peaks(driver, exec)) {
    const std::uint64_t needed = device->graph_used + peak;
    if (needed <= device->graph_reserved) continue;
    if (!driver.charge(*device, Kind::kMemory, needed - device->graph_reserved)) return Result::kOutOfMemory;
    device->graph_reserved = needed;
    device->graph_reserved_high = std::max(device->graph_reserved_high, needed);
  }
  return Result::kSuccess;
}

Result run_graph(Driver& driver, const GraphExec& exec, Stream& stream) {
  for (const auto& node : exec.nodes) {
    if (node->memory == nullptr || driver.memory().at(node->memory->address) == nullptr) continue;
    if ((exec.flags & kAutoFreeOnLaunch) == 0) return Result::kInvalidValue;
    free_graph_memory(driver, node->memory->address);
  }
  if (const Result code = reserve_for(driver, exec); code != Result::kSuccess) return code;
  for (const auto& node : exec.nodes) {
    if (node->type == NodeType::kAllocation) {
      GraphMemory& memory = *node->memory;
      driver.memory().add(memory.address, {.size = memory.bytes,
                                           .source = Source::kGraph,
                                           .device = memory.device,
                                           .backing = std::make_shared<Backing>(memory.size),
                                           .graph = node->memory});
      memory.device->graph_used += memory.size;
      memory.device->graph_used_high = std::max(memory.device->graph_used_high, memory.device->graph_used);
    } else if (node->type == NodeType::kFree) {
      const Range* const range = driver.memory().at(node->freed);
      if (range == nullptr || range->source != Source::kGraph) return Result::kInvalidValue;
      free_graph_memory(driver, node->freed);
    } else if (node->type == NodeType::kKernel) {
      stream.clock_ns += driver.objects().kernel_ns;
      driver.state().count_launch(stream.context->device->state, driver.objects().kernel_ns);
    }
  }
  return Result::kSuccess;
}

void free_graph_memory(Driver& driver, Pointer address) {
  const Range* const range = driver.memory().at(address);
  range->device->graph_used -= range->graph->size;
  driver.memory().remove(address);
}

void trim_graph_memory(Driver& driver, Device& device) {
  driver.discharge(device, Kind::kMemory, device.graph_reserved - device.graph_used);
  device.graph_reserved = device.graph_used;
}

}  // namespace gpupool::fake_cuda
