// SPDX-License-Identifier: Apache-2.0
// Graphs with allocation nodes. The driver takes their memory when they are uploaded or launched (an
// instantiated graph has none yet: NVIDIA's programming guide) and keeps it for the device's graphs, until
// cuDeviceGraphMemTrim.
#include "limiter/cuda/graphs.h"

#include <atomic>

#include "limiter/cuda/charge.h"
#include "limiter/cuda/context_charge.h"
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/graph_need.h"
#include "limiter/cuda/launch_gate.h"
#include "limiter/cuda/pool_charge.h"
#include "limiter/cuda/session.h"
#include "limiter/cuda/table.h"

namespace gpupool::limiter {

namespace {

constexpr unsigned long long kFreeOnLaunch = 1;  // CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH

struct ExecEntry {
  GraphNeed need;
  bool frees;  // a launch begins with the driver freeing what the one before has left
};

constinit Table<ExecEntry> execs;  // those with allocation nodes
constinit std::atomic<std::uint64_t> exec_count{0};

void remember_exec(CUgraphExec exec, const GraphNeed& need, bool frees) {
  execs.change(reinterpret_cast<std::uint64_t>(exec), true, [&](ExecEntry& entry) {
    exec_count.fetch_add(entry.need.count == 0 ? 1 : 0, std::memory_order_relaxed);
    entry = ExecEntry{need, frees};
    return true;
  });
}

void forget_exec(CUgraphExec exec) {
  ExecEntry entry{};
  if (execs.take(reinterpret_cast<std::uint64_t>(exec), entry)) {
    exec_count.fetch_sub(1, std::memory_order_relaxed);
    graph_gone(exec);
  }
}

// Instantiates, or updates. `exec()` says which it became.
template <typename Call, typename Exec>
CUresult take_up(CUgraph graph, unsigned long long flags, Call call, Exec exec) {
  if (!session.limits_anything()) {
    return call();
  }
  const GraphNeed need = need_of_graph(graph);
  const CUresult result = call();
  if (result == kSuccess && need.count == 0) {
    forget_exec(exec());
  } else if (result == kSuccess) {
    remember_exec(exec(), need, (flags & kFreeOnLaunch) != 0);
    graph_became(graph, exec());
  }
  return result;
}

// Calls with room for what the graph needs of the devices from `at` on. Graphs share memory, so one that was
// launched before may need more than it has.
template <typename Call>
CUresult call_with_room(const GraphNeed& need, unsigned at, Call call) {  // NOLINT(misc-no-recursion)
  if (at == need.count) {
    return call_patiently(session.position(need.of[0].device), need.of[0].bytes, call);
  }
  PoolRequest request(graph_pool_number(need.of[at].device));
  if (!request.reserve(need.of[at].bytes)) {
    return kOutOfMemory;
  }
  const CUresult result = call_with_room(need, at + 1, call);
  if (result == kSuccess) {
    request.settle();
  }
  return result;
}

// Of CUDA_GRAPH_INSTANTIATE_PARAMS, whose first member they are.
unsigned long long flags_of(const void* params) {
  return params == nullptr ? 0 : *static_cast<const unsigned long long*>(params);
}

// Uploads or launches.
template <typename Call>
CUresult use_exec(CUgraphExec exec, bool launches, Call call) {
  ExecEntry entry{};
  if (exec_count.load(std::memory_order_relaxed) == 0 ||
      !execs.get(reinterpret_cast<std::uint64_t>(exec), entry)) {
    return call();
  }
  for (unsigned i = 0; launches && entry.frees && i < entry.need.count; ++i) {
    GraphNeed::OfDevice& of = entry.need.of[i];
    const std::uint64_t left = left_by_graph(exec, of.device);
    of.bytes -= left < of.bytes ? left : of.bytes;
  }
  const CUresult result = call_with_room(entry.need, 0, call);
  if (result == kSuccess && launches && entry.need.keeps) {
    graph_launched(exec);
  }
  return result;
}

}  // namespace

void forget_graphs_after_fork() {
  execs.forget_after_fork();
  exec_count.store(0, std::memory_order_relaxed);
  forget_graph_memory_after_fork();
}

CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode* error, char* log,
                            std::size_t size) {
  return take_up(
      graph, 0, [=] { return REAL(cuGraphInstantiate)(exec, graph, error, log, size); },
      [=] { return *exec; });
}

CUresult cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* error, char* log,
                               std::size_t size) {
  return take_up(
      graph, 0, [=] { return REAL(cuGraphInstantiate_v2)(exec, graph, error, log, size); },
      [=] { return *exec; });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return take_up(
      graph, flags, [=] { return REAL(cuGraphInstantiateWithFlags)(exec, graph, flags); },
      [=] { return *exec; });
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph, void* params) {
  return take_up(
      graph, flags_of(params), [=] { return REAL(cuGraphInstantiateWithParams)(exec, graph, params); },
      [=] { return *exec; });
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* exec, CUgraph graph, void* params) {
  return take_up(
      graph, flags_of(params), [=] { return REAL(cuGraphInstantiateWithParams_ptsz)(exec, graph, params); },
      [=] { return *exec; });
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  const CUresult result = REAL(cuGraphExecDestroy)(exec);
  if (result == kSuccess && exec_count.load(std::memory_order_relaxed) != 0) {
    forget_exec(exec);
  }
  return result;
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* error, Enum* why) {
  return take_up(
      graph, 0, [=] { return REAL(cuGraphExecUpdate)(exec, graph, error, why); }, [=] { return exec; });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, void* info) {
  return take_up(
      graph, 0, [=] { return REAL(cuGraphExecUpdate_v2)(exec, graph, info); }, [=] { return exec; });
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
  return use_exec(exec, false, [=] { return REAL(cuGraphUpload)(exec, stream); });
}

CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream) {
  return use_exec(exec, false, [=] { return REAL(cuGraphUpload_ptsz)(exec, stream); });
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  pass_launch_gate();
  return use_exec(exec, true, [=] { return REAL(cuGraphLaunch)(exec, stream); });
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream) {
  pass_launch_gate();
  return use_exec(exec, true, [=] { return REAL(cuGraphLaunch_ptsz)(exec, stream); });
}

CUresult cuDeviceGraphMemTrim(CUdevice device) {
  const CUresult result = REAL(cuDeviceGraphMemTrim)(device);
  if (result == kSuccess && session.limits_anything()) {
    const std::uint64_t number = graph_pool_number(device);
    if (number != 0) {
      settle_pool(number);
    }
  }
  return result;
}

}  // namespace gpupool::limiter
