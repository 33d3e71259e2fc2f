// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "tests/fake-cuda/driver.h"

namespace gpupool::fake_cuda {

enum class NodeType : int {
  kKernel = 0,
  kMemcpy = 1,
  kMemset = 2,
  kHost = 3,
  kGraph = 4,
  kEmpty = 5,
  kAllocation = 10,
  kFree = 11,
};

// The memory of an allocation node: an address for as long as its graph lives, and memory of the device's
// graph pool from a launch until it is freed.
struct GraphMemory {
  Device* device = nullptr;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint64_t size = 0;
  ~GraphMemory() {
    if (address != 0) release_addresses(address, size);
  }
};

struct GraphNode {
  NodeType type = NodeType::kEmpty;
  std::shared_ptr<GraphMemory> memory{};  // of an allocation
  Pointer freed = 0;
  Graph* child = nullptr;  // the node's own copy
};

struct Graph {
  std::vector<std::shared_ptr<GraphNode>> nodes;  // in an order in which they can run
};

struct GraphExec {
  std::vector<std::shared_ptr<GraphNode>> nodes;
  std::uint64_t flags = 0;
};
inline constexpr std::uint64_t kAutoFreeOnLaunch = 1;

Graph* make_graph(Driver& driver);
GraphNode* add_node(Graph& graph, NodeType type);
Result add_allocation(Driver& driver, Graph& graph, Device& device, std::uint64_t bytes, Pointer* out,
                      GraphNode** node = nullptr);
Result add_free(Driver& driver, Graph& graph, Pointer address, GraphNode** node = nullptr);
// A copy of `child` becomes a node. Its memory stays the original's, which the program gives up (drivers
// since 12.9 call that CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE).
GraphNode* add_child(Driver& driver, Graph& graph, const Graph& child);
void destroy_graph(Driver& driver, Graph* graph);
// Its nodes and those of the graphs in it.
std::vector<std::shared_ptr<GraphNode>> all_nodes(const Graph& graph);
// A null graph: a new one.
Result begin_capture(Driver& driver, Stream& stream, Graph* graph);

// Takes what one launch needs of the device.
Result reserve_for(Driver& driver, const GraphExec& exec);
Result run_graph(Driver& driver, const GraphExec& exec, Stream& stream);
// Gives memory that a graph allocated back to the device's graph pool.
void free_graph_memory(Driver& driver, Pointer address);
// Gives the device what of its graph pool nothing uses.
void trim_graph_memory(Driver& driver, Device& device);

}  // namespace gpupool::fake_cuda
