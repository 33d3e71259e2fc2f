// SPDX-License-Identifier: Apache-2.0
#include "limiter/cuda/graph_need.h"

#include <sys/mman.h>

#include <cstddef>

#include "limiter/cuda/allocations.h"
#include "limiter/cuda/driver_calls.h"

namespace gpupool::limiter {

namespace {

constexpr int kDeepest = 8;  // graphs in graphs

// The nodes of a graph, on pages of their own.
class NodeList {
 public:
  explicit NodeList(CUgraph graph) {
    std::size_t count = 0;
    if (driver::cuGraphGetNodes(graph, nullptr, &count) != kSuccess || count == 0) {
      return;
    }
    bytes_ = count * sizeof(CUgraphNode);
    void* const pages = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
      return;
    }
    nodes_ = static_cast<CUgraphNode*>(pages);
    if (driver::cuGraphGetNodes(graph, nodes_, &count) == kSuccess) {
      count_ = count;
    }
  }
  ~NodeList() {
    if (nodes_ != nullptr) {
      munmap(nodes_, bytes_);
    }
  }
  NodeList(const NodeList&) = delete;
  NodeList& operator=(const NodeList&) = delete;

  const CUgraphNode* begin() const { return nodes_; }
  const CUgraphNode* end() const { return nodes_ + count_; }

 private:
  CUgraphNode* nodes_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t count_ = 0;
};

void add_node(GraphNeed& need, CUgraphNode node) {
  MemAllocNodeParams params{};
  if (driver::cuGraphMemAllocNodeGetParams(node, &params) != kSuccess ||
      params.pool_props.location.type != kLocationDevice) {
    return;
  }
  if (need.bytes == 0) {
    need.device = params.pool_props.location.id;
  }
  if (__builtin_add_overflow(need.bytes, round_to_blocks(params.bytesize), &need.bytes)) {
    need.bytes = ~0ULL;
  }
}

// As deep as kDeepest, which the driver's own rules do not reach.
void add_graph(GraphNeed& need, CUgraph graph, int depth) {  // NOLINT(misc-no-recursion)
  const NodeList nodes(graph);
  for (const CUgraphNode node : nodes) {
    Enum type = 0;
    CUgraph child = nullptr;
    if (driver::cuGraphNodeGetType(node, &type) != kSuccess) {
      continue;
    }
    if (type == kNodeMemAlloc) {
      add_node(need, node);
    } else if (type == kNodeChildGraph && depth < kDeepest &&
               driver::cuGraphChildGraphNodeGetGraph(node, &child) == kSuccess) {
      add_graph(need, child, depth + 1);
    }
  }
}

}  // namespace

GraphNeed need_of_graph(CUgraph graph) {
  GraphNeed need{0, 0};
  add_graph(need, graph, 0);
  return need;
}

}  // namespace gpupool::limiter
