// SPDX-License-Identifier: Apache-2.0
// failing-calls: each call that takes or gives memory, with each driver function that it may use failing
// once. A call that fails must leave the charges as they were, and one that succeeds all the same must be
// charged as the driver holds it as soon as the program waits. Prints, by call, in how many ways it failed.
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "tests/fake-cuda/types.h"
#include "tests/limiter/cuda/cuda_program.h"

namespace gpupool::limiter::test {
namespace {

using Number = unsigned long long;

// `call` is tried after `prepare`; `finish` goes back to the beginning, whether it succeeded or not.
struct Row {
  const char* name;
  std::function<void()> prepare;
  std::function<int()> call;
  std::function<void(bool succeeded)> finish;
};

// What wrappers ask the driver beside the call itself.
constexpr std::array<const char*, 26> kInner = {"cuCtxGetDevice",
                                                "cuCtxGetCurrent",
                                                "cuCtxPushCurrent_v2",
                                                "cuCtxGetLimit",
                                                "cuDeviceGetUuid_v2",
                                                "cuDeviceGetAttribute",
                                                "cuDeviceGetCount",
                                                "cuDeviceGetDefaultMemPool",
                                                "cuDeviceGetMemPool",
                                                "cuDevicePrimaryCtxGetState",
                                                "cuMemPoolGetAttribute",
                                                "cuDeviceGetGraphMemAttribute",
                                                "cuStreamGetCtx",
                                                "cuStreamIsCapturing",
                                                "cuGraphGetNodes",
                                                "cuGraphNodeGetType",
                                                "cuGraphMemAllocNodeGetParams",
                                                "cuGraphMemFreeNodeGetParams",
                                                "cuGraphChildGraphNodeGetGraph",
                                                "cuArrayGetMemoryRequirements",
                                                "cuMipmappedArrayGetMemoryRequirements",
                                                "cuArrayDestroy",
                                                "cuMipmappedArrayDestroy",
                                                "cuMemFreeAsync",
                                                "cuMemPoolTrimTo",
                                                "cuMemFree_v2"};

constexpr std::size_t kBytes = 10 * kMib;
constexpr const CUgraphNode* kNoNodes = nullptr;

void check(bool good, const char* call, const char* failing, int result) {
  if (good) return;
  std::printf("wrong: %s with %s failing gave %d; region %llu, driver %llu\n", call, failing, result,
              Number{ledger(0)}, Number{truth(0)});
  std::exit(1);
}

// The state of the program between calls.
std::uint64_t base = 0;
CUcontext context = nullptr;
CUcontext second = nullptr;
CUdeviceptr pointer = 0;
CUdeviceptr places = 0;
CUdeviceptr_v1 low = 0;
std::size_t pitch = 0;
void* array = nullptr;
CUmemoryPool pool = nullptr;
CUgraph graph = nullptr;
CUgraphExec exec = nullptr;
CUmemGenericAllocationHandle handle = 0;
CUmemGenericAllocationHandle again = 0;

MemAllocationProp physical() {
  MemAllocationProp prop{};
  prop.type = 1;
  prop.requested_handle_types = 1;
  prop.location = {kLocationDevice, 0};
  return prop;
}

void need_good(int result, const char* what) { check(result == 0, what, "nothing", result); }
void create() {
  const MemAllocationProp prop = physical();
  need_good(cu("cuMemCreate", &handle, kBytes, &prop, 0ULL), "cuMemCreate");
}
void destroy() { need_good(cu("cuMemRelease", handle), "cuMemRelease"); }
void allocate() { need_good(cu("cuMemAlloc_v2", &pointer, kBytes), "cuMemAlloc_v2"); }
void release() { need_good(cu("cuMemFree_v2", pointer), "cuMemFree_v2"); }
void allocate_async() { need_good(cu("cuMemAllocAsync", &pointer, kBytes, CUstream{}), "cuMemAllocAsync"); }
void map() {
  create();
  need_good(cu("cuMemMap", places, kBytes, std::size_t{0}, handle, 0ULL), "cuMemMap");
}
void unmap() {
  need_good(cu("cuMemUnmap", places, kBytes), "cuMemUnmap");
  destroy();
}
void instantiate() {
  need_good(cu("cuGraphInstantiateWithFlags", &exec, graph, 0ULL), "cuGraphInstantiateWithFlags");
}
void end_exec() {
  need_good(cu("cuGraphExecDestroy", exec), "cuGraphExecDestroy");
  need_good(cu("cuDeviceGraphMemTrim", 0), "cuDeviceGraphMemTrim");
}
void make_pool() {
  MemPoolProps props{};
  props.alloc_type = 1;
  props.location = {kLocationDevice, 0};
  need_good(cu("cuMemPoolCreate", &pool, &props), "cuMemPoolCreate");
}

// A graph that allocates and frees, inside another.
void make_graph() {
  CUgraph inner = nullptr;
  CUgraphNode node = nullptr;
  MemAllocNodeParams params{};
  params.pool_props.alloc_type = 1;
  params.pool_props.location = {kLocationDevice, 0};
  params.bytesize = kBytes;
  need_good(cu("cuGraphCreate", &inner, 0U), "cuGraphCreate");
  need_good(cu("cuGraphCreate", &graph, 0U), "cuGraphCreate");
  need_good(cu("cuGraphAddMemAllocNode", &node, inner, kNoNodes, std::size_t{0}, &params), "a node");
  need_good(cu("cuGraphAddMemFreeNode", &node, inner, kNoNodes, std::size_t{0}, params.dptr), "a node");
  need_good(cu("cuGraphAddChildGraphNode", &node, graph, kNoNodes, std::size_t{0}, inner), "a node");
}

void end_array() { need_good(cu("cuArrayDestroy", array), "cuArrayDestroy"); }

const ArrayDescriptor kFlat{1024, 1024, 0x20, 1};
const Array3dDescriptor kDeep{256, 256, 8, 0x20, 1, 0};

void nothing() {}

// Of a call that takes: `undo` gives back.
Row taking(const char* name, std::function<int()> call, std::function<void()> undo) {
  return {name, nothing, std::move(call), [undo = std::move(undo)](bool succeeded) {
            if (succeeded) undo();
          }};
}

// Of a call that gives back what `prepare` took: `undo` does so if it failed.
Row giving(const char* name, std::function<void()> prepare, std::function<int()> call,
           std::function<void()> undo) {
  return {name, std::move(prepare), std::move(call), [undo = std::move(undo)](bool succeeded) {
            if (!succeeded) undo();
          }};
}

std::vector<Row> memory_rows() {
  return {
      taking(
          "cuMemAlloc_v2", [] { return cu("cuMemAlloc_v2", &pointer, kBytes); }, release),
      taking(
          "cuMemAlloc", [] { return cu("cuMemAlloc", &low, unsigned{kBytes}); },
          [] { need_good(cu("cuMemFree", low), "cuMemFree"); }),
      taking(
          "cuMemAllocPitch_v2",
          [] { return cu("cuMemAllocPitch_v2", &pointer, &pitch, std::size_t{3000}, std::size_t{3000}, 4U); },
          release),
      taking(
          "cuMemAllocManaged", [] { return cu("cuMemAllocManaged", &pointer, kBytes, 1U); }, release),
      taking(
          "cuArrayCreate_v2", [] { return cu("cuArrayCreate_v2", &array, &kFlat); }, end_array),
      taking(
          "cuArray3DCreate_v2", [] { return cu("cuArray3DCreate_v2", &array, &kDeep); }, end_array),
      taking(
          "cuMipmappedArrayCreate", [] { return cu("cuMipmappedArrayCreate", &array, &kDeep, 3U); },
          [] { need_good(cu("cuMipmappedArrayDestroy", array), "cuMipmappedArrayDestroy"); }),
      giving(
          "cuArrayDestroy", [] { need_good(cu("cuArrayCreate_v2", &array, &kFlat), "cuArrayCreate_v2"); },
          [] { return cu("cuArrayDestroy", array); }, end_array),
      giving(
          "cuMemFree_v2", allocate, [] { return cu("cuMemFree_v2", pointer); }, release),
      giving(
          "cuMemFreeAsync", allocate_async, [] { return cu("cuMemFreeAsync", pointer, CUstream{}); },
          release),
      taking(
          "cuMemAllocAsync", [] { return cu("cuMemAllocAsync", &pointer, kBytes, CUstream{}); }, release),
      taking(
          "cuMemAllocFromPoolAsync",
          [] { return cu("cuMemAllocFromPoolAsync", &pointer, kBytes, pool, CUstream{}); }, release),
  };
}

std::vector<Row> physical_rows() {
  return {
      taking(
          "cuMemCreate",
          [] {
            const MemAllocationProp prop = physical();
            return cu("cuMemCreate", &handle, kBytes, &prop, 0ULL);
          },
          destroy),
      giving(
          "cuMemRelease", create, [] { return cu("cuMemRelease", handle); }, destroy),
      {"cuMemMap", create, [] { return cu("cuMemMap", places, kBytes, std::size_t{0}, handle, 0ULL); },
       [](bool succeeded) { succeeded ? unmap() : destroy(); }},
      {"cuMemUnmap", map, [] { return cu("cuMemUnmap", places, kBytes); },
       [](bool succeeded) { succeeded ? destroy() : unmap(); }},
      {"cuMemRetainAllocationHandle", map,
       [] { return cu("cuMemRetainAllocationHandle", &again, reinterpret_cast<void*>(places)); },
       [](bool succeeded) {
         if (succeeded) need_good(cu("cuMemRelease", again), "cuMemRelease");
         unmap();
       }},
  };
}

std::vector<Row> other_rows() {
  return {
      taking(
          "cuCtxCreate_v2", [] { return cu("cuCtxCreate_v2", &second, 0U, 0); },
          [] {
            need_good(cu("cuCtxDestroy_v2", second), "cuCtxDestroy_v2");
            cu("cuCtxSetCurrent", context);
          }),
      taking(
          "cuGreenCtxCreate",
          [] { return cu("cuGreenCtxCreate", &second, static_cast<void*>(nullptr), 0, 1U); },
          [] { need_good(cu("cuGreenCtxDestroy", second), "cuGreenCtxDestroy"); }),
      taking(
          "cuDevicePrimaryCtxRetain", [] { return cu("cuDevicePrimaryCtxRetain", &second, 1); },
          [] { need_good(cu("cuDevicePrimaryCtxRelease_v2", 1), "cuDevicePrimaryCtxRelease_v2"); }),
      taking(
          "cuCtxSetLimit", [] { return cu("cuCtxSetLimit", kLimitStackSize, std::size_t{4096}); },
          [] { need_good(cu("cuCtxSetLimit", kLimitStackSize, std::size_t{1024}), "cuCtxSetLimit"); }),
      taking(
          "cuCtxSetLimit", [] { return cu("cuCtxSetLimit", kLimitMallocHeap, std::size_t{64 * kMib}); },
          [] { need_good(cu("cuCtxSetLimit", kLimitMallocHeap, std::size_t{8 * kMib}), "cuCtxSetLimit"); }),
      taking(
          "cuGraphInstantiateWithFlags", [] { return cu("cuGraphInstantiateWithFlags", &exec, graph, 0ULL); },
          end_exec),
      {"cuGraphUpload", instantiate, [] { return cu("cuGraphUpload", exec, CUstream{}); },
       [](bool) { end_exec(); }},
      {"cuGraphLaunch", instantiate, [] { return cu("cuGraphLaunch", exec, CUstream{}); },
       [](bool) { end_exec(); }},
      giving(
          "cuGraphExecDestroy", instantiate, [] { return cu("cuGraphExecDestroy", exec); }, end_exec),
  };
}

// Everything that was given back is with the device, and both agree.
void settled(const char* name, const char* failing, int result) {
  need_good(cu("cuCtxSynchronize"), "cuCtxSynchronize");
  for (int device = 0; device < 2; ++device) check(ledger(device) == truth(device), name, failing, result);
}

// Whether it failed at all: not every call uses every function.
bool fail_once(const Row& row, const char* failing, int code, unsigned good) {
  row.prepare();
  const std::array<std::uint64_t, 2> before = {ledger(0), ledger(1)};
  fail_next(failing, code, good);
  const int result = row.call();
  const bool happened = !machine().is_asked();
  fail_next(nullptr);
  if (result != 0) {
    for (int device = 0; device < 2; ++device) {
      check(ledger(device) == before[static_cast<unsigned>(device)], row.name, failing, result);
    }
  }
  settled(row.name, failing, result);
  row.finish(result == 0);
  settled(row.name, failing, result);
  check(ledger(0) == base, row.name, failing, result);
  return happened;
}

void try_row(const Row& row) {
  unsigned own = 0;
  unsigned inner = 0;
  for (const int code : {2, 999}) {
    for (unsigned good = 0; good < 3; ++good) {
      own += fail_once(row, row.name, code, good) ? 1U : 0U;
      for (const char* const failing : kInner) inner += fail_once(row, failing, code, good) ? 1U : 0U;
    }
  }
  std::printf("%s %u %u\n", row.name, own, inner);
}

void begin() {
  need_good(cu("cuInit", 0U), "cuInit");
  need_good(cu("cuDevicePrimaryCtxRetain", &context, 0), "cuDevicePrimaryCtxRetain");
  need_good(cu("cuCtxSetCurrent", context), "cuCtxSetCurrent");
  need_good(cu("cuMemAddressReserve", &places, kBytes, std::size_t{0}, CUdeviceptr{0}, 0ULL), "addresses");
  make_pool();
  make_graph();
  base = ledger(0);
}

}  // namespace
}  // namespace gpupool::limiter::test

int main() {
  using namespace gpupool::limiter::test;
  begin();
  for (const auto& rows : {memory_rows(), physical_rows(), other_rows()}) {
    for (const Row& row : rows) try_row(row);
  }
}
