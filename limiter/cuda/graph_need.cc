// SPDX-License-Identifier: Apache-2.0
#include "limiter/cuda/graph_need.h"

#include <sys/mman.h>

#include <atomic>
#include <cstddef>

#include "limiter/cuda/allocations.h"
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/table.h"

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
      munmap(static_cast<void*>(nodes_), bytes_);
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

void add_allocation(GraphNeed& need, const MemAllocNodeParams& params) {
  const CUdevice device = params.pool_props.location.id;
  unsigned at = 0;
  while (at < need.count && need.of[at].device != device) {
    ++at;
  }
  if (at == kMaxDevices) {
    return;  // the limits know of no more
  }
  if (at == need.count) {
    need.of[need.count++] = {device, 0};
  }
  std::uint64_t& bytes = need.of[at].bytes;
  if (__builtin_add_overflow(bytes, round_to_blocks(params.bytesize), &bytes)) {
    bytes = ~0ULL;
  }
}

// Calls allocated(params) and freed(pointer) for nodes of a graph and of graphs in it, as deep as kDeepest,
// which the driver's own rules do not reach.
template <typename Allocated, typename Freed>
void each_memory_node(CUgraph graph, int depth, Allocated allocated,
                      Freed freed) {  // NOLINT(misc-no-recursion)
  const NodeList nodes(graph);
  for (const CUgraphNode node : nodes) {
    Enum type = 0;
    if (driver::cuGraphNodeGetType(node, &type) != kSuccess) {
      continue;
    }
    MemAllocNodeParams params{};
    CUdeviceptr pointer = 0;
    CUgraph child = nullptr;
    if (type == kNodeMemAlloc && driver::cuGraphMemAllocNodeGetParams(node, &params) == kSuccess &&
        params.pool_props.location.type == kLocationDevice) {
      allocated(params);
    } else if (type == kNodeMemFree && driver::cuGraphMemFreeNodeGetParams(node, &pointer) == kSuccess) {
      freed(pointer);
    } else if (type == kNodeChildGraph && depth < kDeepest &&
               driver::cuGraphChildGraphNodeGetGraph(node, &child) == kSuccess) {
      each_memory_node(child, depth + 1, allocated, freed);
    }
  }
}

struct GraphPointer {
  CUgraphExec exec;
  std::uint64_t bytes;
  CUdevice device;
  bool freed_inside;  // by the graph itself
  bool left;          // allocated by a launch, and not freed
};

constinit Table<GraphPointer> graph_pointers;
constinit std::atomic<std::uint64_t> graphs_with_memory{0};

}  // namespace

GraphNeed need_of_graph(CUgraph graph) {
  GraphNeed need{};
  unsigned allocations = 0;
  unsigned frees = 0;
  each_memory_node(
      graph, 0,
      [&](const MemAllocNodeParams& params) {
        ++allocations;
        add_allocation(need, params);
      },
      [&](CUdeviceptr) { ++frees; });
  need.keeps = allocations > frees;
  return need;
}

void graph_became(CUgraph graph, CUgraphExec exec) {
  graphs_with_memory.fetch_add(1, std::memory_order_relaxed);
  each_memory_node(
      graph, 0,
      [exec](const MemAllocNodeParams& params) {
        graph_pointers.put(params.dptr, GraphPointer{exec, round_to_blocks(params.bytesize),
                                                     params.pool_props.location.id, false, false});
      },
      [](CUdeviceptr) {});
  each_memory_node(
      graph, 0, [](const MemAllocNodeParams&) {},
      [exec](CUdeviceptr pointer) {
        graph_pointers.change(pointer, false, [exec](GraphPointer& known) {
          known.freed_inside = known.freed_inside || known.exec == exec;
          return true;
        });
      });
}

void graph_launched(CUgraphExec exec) {
  graph_pointers.take_all([exec](std::uint64_t, GraphPointer& known) {
    known.left = known.left || (known.exec == exec && !known.freed_inside);
    return false;
  });
}

void graph_gone(CUgraphExec exec) {
  graph_pointers.take_all([exec](std::uint64_t, const GraphPointer& known) { return known.exec == exec; });
}

void graph_memory_freed(CUdeviceptr pointer) {
  if (graphs_with_memory.load(std::memory_order_relaxed) != 0) {
    graph_pointers.change(pointer, false, [](GraphPointer& known) {
      known.left = false;
      return true;
    });
  }
}

std::uint64_t left_by_graph(CUgraphExec exec, CUdevice device) {
  std::uint64_t bytes = 0;
  graph_pointers.each([&](std::uint64_t, const GraphPointer& known) {
    bytes += known.exec == exec && known.device == device && known.left ? known.bytes : 0;
  });
  return bytes;
}

void forget_graph_memory_after_fork() {
  graph_pointers.forget_after_fork();
  graphs_with_memory.store(0, std::memory_order_relaxed);
}

}  // namespace gpupool::limiter
