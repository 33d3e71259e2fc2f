// SPDX-License-Identifier: Apache-2.0
// Pools and graphs.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tests/fake-cuda/types.h"
#include "tests/limiter/cuda/trace.h"

namespace gpupool::limiter::test {

void Trace::pooled() {
  CUdeviceptr address = 0;
  const std::size_t bytes = chance(2) ? 1 + below(kMib) : 1 + below(20 * kMib);
  const bool own = chance(2);
  const int result = pools_.empty() || chance(2)
                         ? any(own ? "cuMemAllocAsync_ptsz" : "cuMemAllocAsync", &address, bytes, CUstream{})
                         : any(own ? "cuMemAllocFromPoolAsync_ptsz" : "cuMemAllocFromPoolAsync", &address,
                               bytes, pools_[below(pools_.size())], CUstream{});
  if (result == 0) pointers_.push_back({address, nullptr, true});
}

void Trace::pool() {
  CUmemoryPool made = nullptr;
  if (pools_.size() < 4 && chance(3)) {
    MemPoolProps props{};
    props.alloc_type = 1;
    props.location = {chance(5) ? 2 : kLocationDevice, static_cast<int>(below(kDevices))};
    if (any("cuMemPoolCreate", &made, &props) == 0) pools_.push_back(made);
    return;
  }
  std::uint64_t threshold = below(64 * kMib);
  const int kind = static_cast<int>(below(9));
  if (kind == 0 && !pools_.empty()) {
    const std::size_t at = below(pools_.size());
    if (any("cuMemPoolDestroy", pools_[at]) == 0)
      pools_.erase(pools_.begin() + static_cast<std::ptrdiff_t>(at));
  } else if (kind == 1 && !pools_.empty()) {
    any("cuMemPoolTrimTo", pools_[below(pools_.size())], below(8 * kMib));
  } else if (kind == 2 && !pools_.empty()) {
    any("cuMemPoolSetAttribute", pools_[below(pools_.size())], 4, static_cast<void*>(&threshold));
  } else if (kind == 3) {
    any(chance(2) ? "cuStreamSynchronize" : "cuStreamSynchronize_ptsz", CUstream{});
  } else if (kind == 4) {
    CUevent event = nullptr;
    cu("cuEventCreate", &event, 0U);
    cu("cuEventRecord", event, CUstream{});
    any("cuEventSynchronize", event);
    cu("cuEventDestroy_v2", event);
  } else if (kind == 5) {
    any("cuCtxSynchronize_v2", primary_[below(kDevices)]);
  } else if (kind == 6) {
    MemLocation location{kLocationDevice, static_cast<int>(below(kDevices))};
    any(chance(2) ? "cuMemGetDefaultMemPool" : "cuMemGetMemPool", &made, &location, 1);
    if (!pools_.empty())
      cu("cuDeviceSetMemPool", static_cast<int>(below(kDevices)), pools_[below(pools_.size())]);
  } else {
    any("cuCtxSynchronize");
  }
}

void Trace::graph() {
  const std::size_t kind = below(9);
  if (kind == 0) {
    any("cuDeviceGraphMemTrim", static_cast<int>(below(kDevices)));
  } else if (kind < 4 && !execs_.empty()) {
    run(execs_[below(execs_.size())]);
  } else if (kind == 4 && !execs_.empty()) {
    const std::size_t at = below(execs_.size());
    if (any("cuGraphExecDestroy", execs_[at].handle) == 0)
      execs_.erase(execs_.begin() + static_cast<std::ptrdiff_t>(at));
  } else if (kind == 5 && !graph_memory_.empty()) {
    const std::size_t at = below(graph_memory_.size());
    const CUdeviceptr address = graph_memory_[at];
    if ((chance(2) ? any("cuMemFree_v2", address) : any("cuMemFreeAsync", address, CUstream{})) == 0)
      graph_memory_.erase(graph_memory_.begin() + static_cast<std::ptrdiff_t>(at));
  } else if (execs_.size() < 8) {
    CUgraph made = nullptr;
    cu("cuGraphCreate", &made, 0U);
    Exec exec = make_nodes(made);
    if (chance(4)) {
      CUgraph outer = nullptr;
      CUgraphNode node = nullptr;
      cu("cuGraphCreate", &outer, 0U);
      cu("cuGraphAddChildGraphNode", &node, outer, kNoNodes, std::size_t{0}, made);
      instantiate(outer, exec);
      cu("cuGraphDestroy", outer);
    } else {
      instantiate(made, exec);
    }
    cu("cuGraphDestroy", made);
  }
}

Exec Trace::make_nodes(CUgraph graph) {
  Exec exec{nullptr, {}, true};
  for (std::size_t nodes = below(4); nodes > 0; --nodes) {
    CUgraphNode node = nullptr;
    MemAllocNodeParams params{};
    params.pool_props.alloc_type = 1;
    params.pool_props.location = {kLocationDevice, static_cast<int>(below(kDevices))};
    params.bytesize = 1 + below(10 * kMib);
    if (chance(2)) {
      cu("cuGraphAddMemAllocNode", &node, graph, kNoNodes, std::size_t{0}, &params);
    } else {
      fake_cuda::GraphNodeParams any_node{};
      any_node.type = kNodeMemAlloc;
      std::memcpy(&any_node.of.allocation, &params, sizeof params);
      cu("cuGraphAddNode", &node, graph, kNoNodes, std::size_t{0}, &any_node);
      std::memcpy(&params, &any_node.of.allocation, sizeof params);
    }
    exec.plain = false;
    if (chance(2)) {
      cu("cuGraphAddMemFreeNode", &node, graph, kNoNodes, std::size_t{0}, params.dptr);
    } else {
      exec.kept.push_back(params.dptr);
    }
  }
  return exec;
}

void Trace::instantiate(CUgraph graph, Exec& exec) {
  const unsigned long long flags = chance(2) ? 1 : 0;  // free on launch
  fake_cuda::GraphInstantiateParams params{flags, nullptr, nullptr, 0};
  CUgraphNode error = nullptr;
  int result = 0;
  switch (below(4)) {
    case 0:
      result = any("cuGraphInstantiate_v2", &exec.handle, graph, &error, static_cast<char*>(nullptr),
                   std::size_t{0});
      break;
    case 1:
      result = any(chance(2) ? "cuGraphInstantiateWithParams" : "cuGraphInstantiateWithParams_ptsz",
                   &exec.handle, graph, static_cast<void*>(&params));
      break;
    default:
      result = any("cuGraphInstantiateWithFlags", &exec.handle, graph, flags);
  }
  if (result != 0) return;
  fake_cuda::GraphUpdateInfo info{};
  if (exec.plain) any("cuGraphExecUpdate_v2", exec.handle, graph, static_cast<void*>(&info));
  execs_.push_back(exec);
}

void Trace::run(const Exec& exec) {
  constexpr std::array<const char*, 5> kNames = {"cuGraphUpload", "cuGraphUpload_ptsz", "cuGraphLaunch",
                                                 "cuGraphLaunch_ptsz", "cuGraphLaunch"};
  const std::size_t which = below(kNames.size());
  if (any(kNames[which], exec.handle, CUstream{}) != 0 || which < 2) return;
  for (const CUdeviceptr address : exec.kept) {
    if (std::ranges::find(graph_memory_, address) == graph_memory_.end()) graph_memory_.push_back(address);
  }
}

void Trace::capture() {
  if (execs_.size() >= 8) return;
  CUstream stream = nullptr;
  CUgraph made = nullptr;
  CUdeviceptr address = 0;
  cu("cuStreamCreate", &stream, 0U);
  cu("cuStreamBeginCapture_v2", stream, 0);
  Exec exec{nullptr, {}, true};
  if (any("cuMemAllocAsync", &address, 1 + below(10 * kMib), stream) == 0) {
    exec.plain = false;
    if (!chance(3) || any("cuMemFreeAsync", address, stream) != 0) exec.kept.push_back(address);
  }
  cu("cuStreamEndCapture", stream, &made);
  instantiate(made, exec);
  cu("cuGraphDestroy", made);
  cu("cuStreamDestroy_v2", stream);
}

}  // namespace gpupool::limiter::test
