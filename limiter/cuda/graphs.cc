// SPDX-License-Identifier: Apache-2.0
// Graphs with allocation nodes. The driver takes their memory when they are instantiated, uploaded or first
// launched, and keeps it for the device's graphs until cuDeviceGraphMemTrim.
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

struct ExecEntry {
  GraphNeed need;
  std::uint64_t trims;  // that had been when it last got its memory, + 1; 0: never
};

constinit Table<ExecEntry> execs;  // those with allocation nodes
constinit std::atomic<std::uint64_t> exec_count{0};
constinit std::atomic<std::uint64_t> graph_trims{0};

void remember_exec(CUgraphExec exec, const GraphNeed& need) {
  execs.change(reinterpret_cast<std::uint64_t>(exec), true, [&](ExecEntry& entry) {
    exec_count.fetch_add(entry.need.bytes == 0 ? 1 : 0, std::memory_order_relaxed);
    entry = ExecEntry{need, 0};
    return true;
  });
}

void forget_exec(CUgraphExec exec) {
  ExecEntry entry{};
  if (execs.take(reinterpret_cast<std::uint64_t>(exec), entry)) {
    exec_count.fetch_sub(1, std::memory_order_relaxed);
  }
}

// Instantiates, or updates, with room for what the nodes ask for. `exec()` says which it became.
template <typename Call, typename Exec>
CUresult take_up(CUgraph graph, Call call, Exec exec) {
  if (!session.limits_anything()) {
    return call();
  }
  const GraphNeed need = need_of_graph(graph);
  if (need.bytes == 0) {
    const CUresult result = call();
    if (result == kSuccess) {
      forget_exec(exec());
    }
    return result;
  }
  PoolRequest request(graph_pool_number(need.device));
  if (!request.reserve(need.bytes)) {
    return kOutOfMemory;
  }
  const CUresult result = call_patiently(request.position(), need.bytes, call);
  if (result == kSuccess) {
    remember_exec(exec(), need);
    request.settle();
  }
  return result;
}

// Uploads or launches.
template <typename Call>
CUresult use_exec(CUgraphExec exec, Call call) {
  ExecEntry entry{};
  if (exec_count.load(std::memory_order_relaxed) == 0 ||
      !execs.get(reinterpret_cast<std::uint64_t>(exec), entry)) {
    return call();
  }
  const std::uint64_t trims = graph_trims.load(std::memory_order_relaxed) + 1;
  const std::uint64_t number = graph_pool_number(entry.need.device);
  if (entry.trims == trims) {
    const CUresult result = call();
    settle_pool(number);
    return result;
  }
  PoolRequest request(number);
  if (!request.reserve(entry.need.bytes)) {
    return kOutOfMemory;
  }
  const CUresult result = call_patiently(request.position(), entry.need.bytes, call);
  if (result == kSuccess) {
    execs.change(reinterpret_cast<std::uint64_t>(exec), false, [trims](ExecEntry& known) {
      known.trims = trims;
      return true;
    });
    request.settle();
  }
  return result;
}

}  // namespace

void forget_graphs_after_fork() {
  execs.forget_after_fork();
  exec_count.store(0, std::memory_order_relaxed);
}

CUresult cuGraphInstantiate(CUgraphExec* exec, CUgraph graph, CUgraphNode* error, char* log,
                            std::size_t size) {
  return take_up(
      graph, [=] { return REAL(cuGraphInstantiate)(exec, graph, error, log, size); }, [=] { return *exec; });
}

CUresult cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* error, char* log,
                               std::size_t size) {
  return take_up(
      graph, [=] { return REAL(cuGraphInstantiate_v2)(exec, graph, error, log, size); },
      [=] { return *exec; });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return take_up(
      graph, [=] { return REAL(cuGraphInstantiateWithFlags)(exec, graph, flags); }, [=] { return *exec; });
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph, void* params) {
  return take_up(
      graph, [=] { return REAL(cuGraphInstantiateWithParams)(exec, graph, params); }, [=] { return *exec; });
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* exec, CUgraph graph, void* params) {
  return take_up(
      graph, [=] { return REAL(cuGraphInstantiateWithParams_ptsz)(exec, graph, params); },
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
      graph, [=] { return REAL(cuGraphExecUpdate)(exec, graph, error, why); }, [=] { return exec; });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, void* info) {
  return take_up(graph, [=] { return REAL(cuGraphExecUpdate_v2)(exec, graph, info); }, [=] { return exec; });
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
  return use_exec(exec, [=] { return REAL(cuGraphUpload)(exec, stream); });
}

CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream) {
  return use_exec(exec, [=] { return REAL(cuGraphUpload_ptsz)(exec, stream); });
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  pass_launch_gate();
  return use_exec(exec, [=] { return REAL(cuGraphLaunch)(exec, stream); });
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream) {
  pass_launch_gate();
  return use_exec(exec, [=] { return REAL(cuGraphLaunch_ptsz)(exec, stream); });
}

CUresult cuDeviceGraphMemTrim(CUdevice device) {
  const CUresult result = REAL(cuDeviceGraphMemTrim)(device);
  if (result == kSuccess && session.limits_anything()) {
    graph_trims.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t number = graph_pool_number(device);
    if (number != 0) {
      settle_pool(number);
    }
  }
  return result;
}

}  // namespace gpupool::limiter
