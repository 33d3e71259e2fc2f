// SPDX-License-Identifier: Apache-2.0
// Pools and graphs.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tests/limiter/cuda/standin.h"

namespace gpupool::standin {

// What is free in whole steps goes back to the device, down to `keep`.
void shrink_pool(Pool& pool, std::uint64_t keep) {
  const std::uint64_t target = std::max(round_to(pool.used, pool.step), keep);
  if (target < pool.reserved) {
    give_bytes(pool.device, pool.reserved - target);
    pool.reserved = target;
  }
}

namespace {

std::uint64_t pool_step() {
  const char* const text = std::getenv("STANDIN_POOL_STEP_MIB");  // NOLINT(concurrency-mt-unsafe)
  return (text != nullptr ? std::strtoull(text, nullptr, 10) : 2) * kMib;
}

Pool* default_pool(World& w, int device) {
  if (w.default_pool[device] == nullptr) {
    w.default_pool[device] = *w.pools.insert(new Pool{.device = device, .step = pool_step()}).first;
    w.current_pool[device] = w.default_pool[device];
  }
  return w.default_pool[device];
}

CUresult allocate_from(World& w, Pool* pool, std::uint64_t bytes, CUdeviceptr* out) {
  if (!w.pools.contains(pool)) return kInvalidValue;
  const std::uint64_t size = round_to(bytes, 512);
  if (pool->used + size > pool->reserved) {
    const std::uint64_t more = round_to(pool->used + size - pool->reserved, pool->step);
    if (!take_bytes(pool->device, more)) return kOutOfMemory;
    pool->reserved += more;
  }
  pool->used += size;
  *out = w.next_address;
  w.next_address += round_to(size, kGranule);
  w.ranges[*out] = {pool->device, nullptr, 0, 0, pool, size};
  return kSuccess;
}

// Pools give back what was freed when the program waits.
CUresult synchronize(World& w) {
  for (Pool* const pool : w.pools) {
    if (!pool->destroyed) shrink_pool(*pool, pool->threshold);  // a destroyed one goes with its last pointer
  }
  return kSuccess;
}

CUresult back_exec(World& w, Exec& exec) {
  if (exec.backed) return kSuccess;
  std::uint64_t& reserved = w.graph_reserved[exec.device];
  if (exec.bytes > reserved) {
    if (!take_bytes(exec.device, exec.bytes - reserved)) return kOutOfMemory;
    reserved = exec.bytes;
  }
  exec.backed = true;
  return kSuccess;
}

}  // namespace

}  // namespace gpupool::standin

using namespace gpupool::standin;

STANDIN cuMemPoolCreate(Pool** out, const MemPoolProps* props) {
  return call(__func__, [=](World& w) {
    const int device = props->location.type == kLocationDevice ? props->location.id : -1;
    *out = *w.pools.insert(new Pool{.device = device, .step = pool_step()}).first;
    return kSuccess;
  });
}
STANDIN cuMemPoolDestroy(Pool* pool) {
  return call(__func__, [=](World& w) {
    if (!w.pools.contains(pool)) return kInvalidValue;
    for (Pool*& now : w.current_pool) now = now == pool ? w.default_pool[pool->device] : now;
    pool->destroyed = true;
    if (pool->used != 0) return kSuccess;
    give_bytes(pool->device, pool->reserved);
    w.pools.erase(pool);
    delete pool;
    return kSuccess;
  });
}
STANDIN cuMemPoolTrimTo(Pool* pool, std::size_t keep) {
  return call(__func__, [=](World&) { return shrink_pool(*pool, keep), kSuccess; });
}
STANDIN cuMemPoolSetAttribute(Pool* pool, Enum attribute, void* value) {
  return call(__func__, [=](World&) {
    if (attribute == 4) std::memcpy(&pool->threshold, value, sizeof pool->threshold);
    return kSuccess;
  });
}
STANDIN cuMemPoolGetAttribute(Pool* pool, Enum attribute, void* value) {
  return call(__func__, [=](World&) {
    const std::uint64_t number = attribute == kPoolReservedCurrent ? pool->reserved : pool->used;
    return std::memcpy(value, &number, sizeof number), kSuccess;
  });
}
STANDIN cuDeviceGetDefaultMemPool(Pool** out, int device) {
  return call(__func__, [=](World& w) { return *out = default_pool(w, device), kSuccess; });
}
STANDIN cuDeviceGetMemPool(Pool** out, int device) {
  return call(__func__,
              [=](World& w) { return default_pool(w, device), *out = w.current_pool[device], kSuccess; });
}
STANDIN cuDeviceSetMemPool(int device, Pool* pool) {
  return call(__func__,
              [=](World& w) { return default_pool(w, device), w.current_pool[device] = pool, kSuccess; });
}
STANDIN cuMemAllocAsync(CUdeviceptr* out, std::size_t bytes, CUstream) {
  return call(__func__, [=](World& w) {
    const int device = current()->device;
    default_pool(w, device);
    return allocate_from(w, w.current_pool[device], bytes, out);
  });
}
STANDIN cuMemAllocFromPoolAsync(CUdeviceptr* out, std::size_t bytes, Pool* pool, CUstream) {
  return call(__func__, [=](World& w) { return allocate_from(w, pool, bytes, out); });
}
STANDIN cuMemFreeAsync(CUdeviceptr pointer, CUstream) {
  return call(__func__, [=](World& w) {
    const auto at = w.ranges.find(pointer);
    if (at == w.ranges.end()) return kInvalidValue;
    return free_range(w, at), kSuccess;
  });
}
STANDIN cuStreamIsCapturing(CUstream, Enum* status) { return *status = 0, kSuccess; }
STANDIN cuCtxSynchronize() { return call(__func__, synchronize); }
STANDIN cuStreamSynchronize(CUstream) { return call(__func__, synchronize); }

STANDIN cuGraphCreate(Graph** graph, unsigned) { return *graph = new Graph, kSuccess; }
STANDIN cuGraphAddMemAllocNode(Node** out, Graph* graph, Node* const*, std::size_t,
                               MemAllocNodeParams* params) {
  return call(__func__, [=](World&) {
    graph->nodes.push_back(*out = new Node{kNodeMemAlloc, *params});
    return kSuccess;
  });
}
STANDIN cuGraphGetNodes(Graph* graph, Node** nodes, std::size_t* count) {
  if (nodes != nullptr) std::copy(graph->nodes.begin(), graph->nodes.end(), nodes);
  *count = graph->nodes.size();
  return kSuccess;
}
STANDIN cuGraphNodeGetType(Node* node, Enum* type) { return *type = node->type, kSuccess; }
STANDIN cuGraphMemAllocNodeGetParams(Node* node, MemAllocNodeParams* params) {
  return *params = node->params, kSuccess;
}
STANDIN cuGraphInstantiateWithFlags(Exec** out, Graph* graph, unsigned long long) {
  return call(__func__, [=](World& w) {
    auto* const exec = new Exec{0, 0, false};
    for (const Node* const node : graph->nodes) {
      exec->device = node->params.pool_props.location.id;
      exec->bytes += round_to(node->params.bytesize, kGranule);
    }
    w.execs.insert(*out = exec);
    return kSuccess;
  });
}
STANDIN cuGraphExecDestroy(Exec* exec) {
  return call(__func__, [=](World& w) { return w.execs.erase(exec), delete exec, kSuccess; });
}
STANDIN cuGraphUpload(Exec* exec, CUstream) {
  return call(__func__, [=](World& w) { return back_exec(w, *exec); });
}
STANDIN cuGraphLaunch(Exec* exec, CUstream) {
  return call(__func__, [=](World& w) { return back_exec(w, *exec); });
}
STANDIN cuDeviceGraphMemTrim(int device) {
  return call(__func__, [=](World& w) {
    give_bytes(device, w.graph_reserved[device]);
    w.graph_reserved[device] = 0;
    for (Exec* const exec : w.execs) exec->backed = exec->backed && exec->device != device;
    return kSuccess;
  });
}
STANDIN cuDeviceGetGraphMemAttribute(int device, Enum attribute, void* value) {
  return call(__func__, [=](World& w) {
    const std::uint64_t number =
        attribute == kGraphReservedCurrent ? w.graph_reserved[device] : w.graph_used[device];
    return std::memcpy(value, &number, sizeof number), kSuccess;
  });
}
