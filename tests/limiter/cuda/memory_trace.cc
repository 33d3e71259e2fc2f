// SPDX-License-Identifier: Apache-2.0
// memory-trace SEED STEPS LIMIT_MIB [measured]: random calls of all kinds that allocate or free, one in eight
// of them made to fail. After each the region must say exactly what the driver's state file says, and that
// must be within the limit (the same for both devices). What was refused must not have fitted. `measured`:
// NVML is there, and code is loaded too, which counts once it was measured. Prints how often each kind of
// call went well.
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/fake-cuda/types.h"
#include "tests/limiter/cuda/cuda_program.h"

namespace gpupool::limiter::test {
namespace {

constexpr std::uint64_t kGranule = 2 * kMib;
constexpr int kDevices = 2;
constexpr unsigned kPlaces = 64;  // for mappings, of 64 MiB of addresses
constexpr std::uint64_t kPlaceSize = 64 * kMib;

struct IpcHandle {
  std::array<char, 64> bytes;
};

// What another process of the container lends: physical memory, by a descriptor of its own, and an
// allocation.
struct Lent {
  int pid;
  std::array<int, 3> files;
  IpcHandle handle;
};

// A process that allocates, lends and waits for its end.
Lent start_lender() {
  std::array<int, 2> pipes{};
  Lent lent{};
  if (pipe(pipes.data()) != 0) std::exit(3);
  if (const pid_t child = fork(); child != 0) {
    if (read(pipes[0], &lent, sizeof lent) != sizeof lent) std::exit(3);
    return lent;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  CUcontext context = nullptr;
  CUdeviceptr pointer = 0;
  bool good = cu("cuInit", 0U) == 0 && cu("cuDevicePrimaryCtxRetain", &context, 0) == 0 &&
              cu("cuCtxSetCurrent", context) == 0 &&
              cu("cuMemAlloc_v2", &pointer, std::size_t{10 * kMib}) == 0 &&
              cu("cuIpcGetMemHandle", &lent.handle, pointer) == 0;
  lent.pid = getpid();
  for (int& file : lent.files) {
    MemAllocationProp prop{};
    prop.type = 1;
    prop.requested_handle_types = 1;
    prop.location = {kLocationDevice, 1};
    CUmemGenericAllocationHandle handle = 0;
    good = good && cu("cuMemCreate", &handle, std::size_t{6 * kMib}, &prop, 0ULL) == 0 &&
           cu("cuMemExportToShareableHandle", static_cast<void*>(&file), handle, 1, 0ULL) == 0;
  }
  if (!good || write(pipes[1], &lent, sizeof lent) != sizeof lent) _exit(3);
  pause();
  _exit(0);
}

struct Pointer {
  CUdeviceptr address;
  CUcontext context;  // nullptr: of a pool
  bool pool;
};

class Trace {
 public:
  Trace(std::uint64_t seed, std::uint64_t limit, bool measured)
      : random_(seed), limit_(limit), measured_(measured) {}

  void begin() {
    lent_ = start_lender();
    for (int device = 0; device < kDevices; ++device) lent_bytes_[device] = truth(device);
    ok("cuInit", 0U);
    ok("cuMemAddressReserve", &places_, std::size_t{kPlaces * kPlaceSize}, std::size_t{0}, CUdeviceptr{0},
       0ULL);
    for (int device = 0; device < kDevices; ++device) {
      ok("cuDevicePrimaryCtxRetain", &primary_[device], device);
    }
    ok("cuCtxSetCurrent", primary_[0]);
  }
  void step() {
    using Method = void (Trace::*)();
    constexpr std::array<Method, 12> kRows = {
        &Trace::linear, &Trace::free_one, &Trace::array, &Trace::physical, &Trace::pooled,  &Trace::pool,
        &Trace::graph,  &Trace::context,  &Trace::tiles, &Trace::borrowed, &Trace::capture, &Trace::code};
    (this->*kRows[below(kRows.size())])();
  }
  // Everything is given back.
  void end() {
    fails_ = false;
    while (!pointers_.empty()) free_at(0);
    while (!borrowed_.empty()) give_back(0);
    while (!modules_.empty()) unload(0);
    for (const CUdeviceptr address : graph_memory_) cu("cuMemFree_v2", address);
    while (!arrays_.empty()) destroy_array(0);
    while (!mapped_.empty()) unmap(0);
    while (!handles_.empty()) release(0);
    for (CUmemoryPool pool : pools_) ok("cuMemPoolDestroy", pool);
    for (const CUcontext context : primary_) {
      ok("cuCtxSetCurrent", context);
      ok("cuCtxSynchronize");
    }
    while (!contexts_.empty()) destroy_context(0);
    for (int device = 0; device < kDevices; ++device) {
      ok("cuDeviceGraphMemTrim", device);
      ok("cuDevicePrimaryCtxRelease_v2", device);
      check("end", ledger(device) == lent_bytes_[device] && truth(device) == lent_bytes_[device]);
    }
    kill(lent_.pid, SIGKILL);
    waitpid(lent_.pid, nullptr, 0);
  }
  void check(const char* what, bool good) {
    if (good) return;
    for (int device = 0; device < kDevices; ++device) {
      std::printf("device %d: region %llu, driver %llu, limit %llu\n", device,
                  static_cast<unsigned long long>(ledger(device)),
                  static_cast<unsigned long long>(truth(device)), static_cast<unsigned long long>(limit_));
    }
    std::printf("step %llu: wrong after %s\n", static_cast<unsigned long long>(calls_), what);
    std::exit(1);
  }
  void print() const {
    for (const auto& [name, count] : counts_) std::printf("%s %llu\n", name.c_str(), count);
  }

 private:
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }
  bool chance(unsigned one_in) { return below(one_in) == 0; }

  // One call; afterwards everything must agree. `needs`: bytes of the device that it takes at least, if that
  // is known.
  template <typename... Args>
  int attempt(const char* name, int device, std::uint64_t needs, Args... args) {
    const bool injected = fails_ && chance(8);
    const std::string_view base = without_suffix(name);
    // The first call that makes an array asks for its size.
    const bool asks = base == "cuArray3DCreate_v2" || base == "cuMipmappedArrayCreate";
    if (injected) fail_next(std::string(base).c_str(), chance(2) ? 2 : 999, asks ? 1 : 0);
    const std::uint64_t before = truth(device);
    const std::uint64_t truth0 = truth(0);
    const int result = cu(name, args...);
    if (injected) fail_next(nullptr);
    ++calls_;
    counts_[std::string(name) + (result == 0 ? "" : result == 2 ? " out-of-memory" : " failed")]++;
    if (needs != 0 && result == 2 && !injected)
      check((std::string(name) + ": refused").c_str(), before + needs > limit_);
    for (int i = 0; i < kDevices; ++i) {
      if (!agrees(i)) std::printf("DEBUG result %d injected %d before0 %llu dev %d\n", result, injected, (unsigned long long)truth0, i);
      check(name, agrees(i));
    }
    return result;
  }
  // Code is measured all at once, some time after it was loaded, and nobody reserves for it.
  bool agrees(int device) {
    const std::uint64_t counted = ledger(device);
    const std::uint64_t held = truth(device);
    if (counted == held) unmeasured_[device] = 0;
    return counted + unmeasured_[device] == held && held <= limit_ + code_[device];
  }
  static std::string_view without_suffix(std::string_view name) {
    if (name.ends_with("_ptsz")) name.remove_suffix(5);
    return name;
  }
  template <typename... Args>
  int any(const char* name, Args... args) {
    return attempt(name, 0, 0, args...);
  }
  template <typename... Args>
  void ok(const char* name, Args... args) {
    const int result = cu(name, args...);
    check(name, result == 0);
  }

  int device() const {
    int found = 0;
    cu("cuCtxGetDevice", &found);
    return found;
  }
  CUcontext current() const {
    CUcontext found = nullptr;
    cu("cuCtxGetCurrent", &found);
    return found;
  }
  static std::uint64_t round(std::uint64_t bytes) { return (bytes + kGranule - 1) / kGranule * kGranule; }

  void linear() {
    CUdeviceptr address = 0;
    int result = 0;
    const std::size_t bytes = chance(2) ? 1 + below(kMib) : 1 + below(48 * kMib);
    std::size_t pitch = 0;
    CUdeviceptr_v1 low = 0;
    unsigned low_pitch = 0;
    switch (below(7)) {
      case 0:
        result = any("cuMemAllocPitch_v2", &address, &pitch, 1 + below(9000), 1 + below(3000), 4U);
        break;
      case 2:
        result = attempt("cuMemAlloc", device(), round(bytes), &low, static_cast<unsigned>(bytes));
        address = low;
        break;
      case 3:
        result = any("cuMemAllocPitch", &low, &low_pitch, static_cast<unsigned>(1 + below(3000)),
                     static_cast<unsigned>(1 + below(1000)), 4U);
        address = low;
        break;
      case 1:
        result = attempt("cuMemAllocManaged", device(), round(bytes), &address, bytes, 1U);
        break;
      default:
        result = attempt("cuMemAlloc_v2", device(), round(bytes), &address, bytes);
    }
    if (result == 0) pointers_.push_back({address, current(), false});
  }
  void free_one() {
    // More when much is allocated, so that the limit is met and left.
    for (std::size_t i = pointers_.size() > 60 ? 30 : 1; i > 0 && !pointers_.empty(); --i)
      free_at(below(pointers_.size()));
    if (chance(20)) check("a wrong free", any("cuMemFree_v2", CUdeviceptr{12345}) != 0);
  }
  void free_at(std::size_t at) {
    const Pointer pointer = pointers_[at];
    const bool async = pointer.pool && !chance(3);
    const bool low = pointer.address <= 0xFFFFFFFF && chance(2);
    const int result =
        async ? any(chance(2) ? "cuMemFreeAsync" : "cuMemFreeAsync_ptsz", pointer.address, CUstream{})
        : low ? any("cuMemFree", static_cast<CUdeviceptr_v1>(pointer.address))
              : any("cuMemFree_v2", pointer.address);
    if (result == 0) pointers_.erase(pointers_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void array() {
    if (!arrays_.empty() && chance(arrays_.size() > 10 ? 1 : 3)) return destroy_array(below(arrays_.size()));
    void* made = nullptr;
    const ArrayDescriptor flat{1 + below(4096), 1 + below(2048), 0x20, 1};
    const Array3dDescriptor deep{
        1 + below(512), 1 + below(256), below(32), 0x20, 1, chance(3) ? kArrayDeferred : 0};
    const ArrayDescriptorV1 flat_v1{static_cast<unsigned>(flat.width), static_cast<unsigned>(flat.height),
                                    0x20, 1};
    const Array3dDescriptorV1 deep_v1{static_cast<unsigned>(deep.width),
                                      static_cast<unsigned>(deep.height),
                                      static_cast<unsigned>(deep.depth),
                                      0x20,
                                      1,
                                      deep.flags};
    const std::size_t kind = below(5);
    const int result = kind == 0   ? any("cuArrayCreate_v2", &made, &flat)
                       : kind == 3 ? any("cuArrayCreate", &made, &flat_v1)
                       : kind == 4 ? any("cuArray3DCreate", &made, &deep_v1)
                       : kind == 1 ? any("cuArray3DCreate_v2", &made, &deep)
                                   : any("cuMipmappedArrayCreate", &made, &deep, 3U);
    if (result == 0) arrays_.push_back({made, current(), kind == 2});
  }
  void destroy_array(std::size_t at) {
    const char* const name = arrays_[at].mipmapped ? "cuMipmappedArrayDestroy" : "cuArrayDestroy";
    if (any(name, arrays_[at].handle) == 0) arrays_.erase(arrays_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void physical() {
    const std::size_t kind = below(handles_.size() + mapped_.size() > 20 ? 2 : 7);
    if (kind == 0 && !handles_.empty()) return release(below(handles_.size()));
    if (kind == 1 && !mapped_.empty()) return unmap(below(mapped_.size()));
    CUmemGenericAllocationHandle handle = 0;
    if (kind == 2 && !mapped_.empty()) {
      const CUdeviceptr inside = mapped_[below(mapped_.size())] + 4096;
      if (any("cuMemRetainAllocationHandle", &handle, reinterpret_cast<void*>(inside)) == 0)
        handles_.push_back(handle);
    } else if (kind == 3 && !handles_.empty()) {
      const CUdeviceptr place = places_ + below(kPlaces) * kPlaceSize;
      const CUmemGenericAllocationHandle which = handles_[below(handles_.size())];
      if (any("cuMemMap", place, std::size_t{kGranule}, std::size_t{0}, which, 0ULL) == 0)
        mapped_.push_back(place);
    } else if (kind == 4) {
      import_one();
    } else if (kind > 4) {
      MemAllocationProp prop{};
      prop.type = 1;
      prop.requested_handle_types = 1;
      prop.location = {chance(5) ? 3 : kLocationDevice, static_cast<int>(below(kDevices))};
      const std::size_t bytes = kGranule * (1 + below(8));
      const std::uint64_t needs = prop.location.type == kLocationDevice ? bytes : 0;
      if (attempt("cuMemCreate", prop.location.id, needs, &handle, bytes, &prop, 0ULL) == 0)
        handles_.push_back(handle);
    }
  }
  // Memory of this process or of the lender, which is charged for it.
  void import_one() {
    int file = -1;
    if (!handles_.empty() && chance(2)) {
      cu("cuMemExportToShareableHandle", static_cast<void*>(&file), handles_[below(handles_.size())], 1,
         0ULL);
    } else {
      const std::string path = "/proc/" + std::to_string(lent_.pid) + "/fd/" +
                               std::to_string(lent_.files[below(lent_.files.size())]);
      file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    }
    if (file < 0) return;
    CUmemGenericAllocationHandle handle = 0;
    void* const as_pointer = reinterpret_cast<void*>(static_cast<std::intptr_t>(file));
    if (any("cuMemImportFromShareableHandle", &handle, as_pointer, 1) == 0) handles_.push_back(handle);
    close(file);
  }
  void release(std::size_t at) {
    if (any("cuMemRelease", handles_[at]) == 0)
      handles_.erase(handles_.begin() + static_cast<std::ptrdiff_t>(at));
  }
  void unmap(std::size_t at) {
    if (any("cuMemUnmap", mapped_[at], std::size_t{kGranule}) == 0) {
      mapped_.erase(mapped_.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  void pooled() {
    CUdeviceptr address = 0;
    const std::size_t bytes = chance(2) ? 1 + below(kMib) : 1 + below(20 * kMib);
    const bool own = chance(2);
    const int result =
        pools_.empty() || chance(2)
            ? any(own ? "cuMemAllocAsync_ptsz" : "cuMemAllocAsync", &address, bytes, CUstream{})
            : any(own ? "cuMemAllocFromPoolAsync_ptsz" : "cuMemAllocFromPoolAsync", &address, bytes,
                  pools_[below(pools_.size())], CUstream{});
    if (result == 0) pointers_.push_back({address, nullptr, true});
  }
  void pool() {
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

  void graph() {
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

  struct Exec {
    CUgraphExec handle;
    std::vector<CUdeviceptr> kept;  // what its launch allocates and does not free
    bool plain;                     // without memory
  };
  static constexpr const CUgraphNode* kNoNodes = nullptr;

  Exec make_nodes(CUgraph graph) {
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
  void instantiate(CUgraph graph, Exec& exec) {
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
  void run(const Exec& exec) {
    constexpr std::array<const char*, 5> kNames = {"cuGraphUpload", "cuGraphUpload_ptsz", "cuGraphLaunch",
                                                   "cuGraphLaunch_ptsz", "cuGraphLaunch"};
    const std::size_t which = below(kNames.size());
    if (any(kNames[which], exec.handle, CUstream{}) != 0 || which < 2) return;
    for (const CUdeviceptr address : exec.kept) {
      if (std::ranges::find(graph_memory_, address) == graph_memory_.end()) graph_memory_.push_back(address);
    }
  }

  // What a captured stream allocates becomes a graph.
  void capture() {
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

  // Memory that is mapped to a part of an array stays until the array is destroyed.
  void tiles() {
    if (handles_.empty()) return;
    const Array3dDescriptor sparse{1 + below(512), 1 + below(256), 0, 0x20, 1, kArraySparse};
    void* made = nullptr;
    if (any("cuArray3DCreate_v2", &made, &sparse) != 0) return;
    ArrayMapInfo info{};
    info.resource = made;
    info.operation = kMapOperationMap;
    const bool host = chance(2);
    for (unsigned i = 0; i < 2; ++i) {
      info.subresource.sparse_level.layer = i;
      info.handle = handles_[below(handles_.size())];
      any(host ? "cuMemMapArrayAsync" : "cuMemMapArrayAsync_ptsz", &info, 1U, CUstream{});
    }
    if (chance(2)) release(below(handles_.size()));
    while (any("cuArrayDestroy", made) != 0) {
    }
  }

  // Memory of another process, and of the host.
  void borrowed() {
    if (!borrowed_.empty() && chance(2)) return give_back(below(borrowed_.size()));
    CUdeviceptr address = 0;
    void* host = nullptr;
    if (chance(3)) {
      if (any("cuMemAllocHost_v2", &host, 1 + below(kMib)) == 0) cu("cuMemFreeHost", host);
    } else if (any("cuIpcOpenMemHandle_v2", &address, lent_.handle, 1U) == 0) {
      borrowed_.push_back({address, current(), false});
    }
  }
  void give_back(std::size_t at) {
    if (any("cuIpcCloseMemHandle", borrowed_[at].address) == 0)
      borrowed_.erase(borrowed_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  // Modules and libraries of the primary context.
  void code() {
    if (!measured_) return;
    if (!modules_.empty() && chance(modules_.size() > 8 ? 1 : 2)) return unload(below(modules_.size()));
    CUmodule made = nullptr;
    const int on = device();
    if (current() != primary_[on]) return;
    code_[on] += kGranule;  // before the call, after which it is compared
    unmeasured_[on] += kGranule;
    const int result = chance(2)
                           ? any_code("cuModuleLoadData", on, &made, static_cast<const void*>("image"))
                           : any_code("cuModuleLoadFatBinary", on, &made, static_cast<const void*>("image"));
    if (result == 0) modules_.push_back({made, on});
  }
  template <typename... Args>
  int any_code(const char* name, int on, Args... args) {
    const bool fails = fails_ && chance(8);
    if (!fails) return any_without_failures(name, args...);
    code_[on] -= kGranule;
    unmeasured_[on] -= kGranule;
    fail_next(name, 999);
    const int result = any_without_failures(name, args...);
    fail_next(nullptr);
    return result;
  }
  template <typename... Args>
  int any_without_failures(const char* name, Args... args) {
    const bool before = fails_;
    fails_ = false;
    const int result = any(name, args...);
    fails_ = before;
    return result;
  }
  void unload(std::size_t at) {
    const Code module = modules_[at];
    code_[module.device] -= kGranule;
    unmeasured_[module.device] -= kGranule;
    if (any_without_failures("cuModuleUnload", module.handle) != 0) check("cuModuleUnload", false);
    modules_.erase(modules_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void context() {
    CUcontext made = nullptr;
    const int device = static_cast<int>(below(kDevices));
    switch (below(8)) {
      case 6:
        if (contexts_.size() < 3 &&
            any("cuGreenCtxCreate", &made, static_cast<void*>(nullptr), device, 1U) == 0) {
          cu("cuCtxFromGreenCtx", &made, made);
          contexts_.push_back({made, true});
        }
        break;
      case 7:
        if (chance(4)) reset(device);
        break;
      case 0:
        if (contexts_.size() < 3 && attempt("cuCtxCreate_v2", device, 64 * kMib, &made, 0U, device) == 0) {
          contexts_.push_back({made, false});
        }
        break;
      case 1:
        if (!contexts_.empty()) destroy_context(below(contexts_.size()));
        break;
      case 2:
        if (any("cuDevicePrimaryCtxRetain", &made, device) == 0) cu("cuDevicePrimaryCtxRelease_v2", device);
        break;
      case 3:
        any("cuCtxSetLimit", static_cast<int>(below(3)), std::size_t{1024} * (1 + below(4)));
        break;
      default:
        cu("cuCtxSetCurrent",
           contexts_.empty() || chance(2) ? primary_[device] : contexts_[below(contexts_.size())].handle);
    }
  }
  void destroy_context(std::size_t at) {
    const CUcontext context = contexts_[at].handle;
    if (any(contexts_[at].green ? "cuGreenCtxDestroy" : "cuCtxDestroy_v2", context) != 0) return;
    contexts_.erase(contexts_.begin() + static_cast<std::ptrdiff_t>(at));
    forget(context);
    cu("cuCtxSetCurrent", primary_[0]);
  }
  // The primary context of a device ends and begins anew.
  void reset(int device) {
    const CUcontext before = primary_[device];
    for (const Code& module : modules_) {
      if (module.device != device) continue;
      code_[device] -= kGranule;
      unmeasured_[device] -= kGranule;
    }
    if (any_without_failures("cuDevicePrimaryCtxReset_v2", device) != 0)
      check("cuDevicePrimaryCtxReset_v2", false);
    std::erase_if(modules_, [=](const Code& module) { return module.device == device; });
    forget(before);
    while (any("cuDevicePrimaryCtxRetain", &primary_[device], device) != 0) free_one();
    cu("cuCtxSetCurrent", primary_[0]);
  }
  void forget(CUcontext context) {
    std::erase_if(pointers_,
                  [=](const Pointer& pointer) { return !pointer.pool && pointer.context == context; });
    std::erase_if(borrowed_, [=](const Pointer& pointer) { return pointer.context == context; });
    std::erase_if(arrays_, [=](const Array& array) { return array.context == context; });
  }

  struct Array {
    void* handle;
    CUcontext context;
    bool mipmapped;
  };
  struct Made {
    CUcontext handle;
    bool green;
  };
  struct Code {
    CUmodule handle;
    int device;
  };
  std::mt19937_64 random_;
  std::uint64_t limit_;
  bool measured_;
  std::uint64_t calls_ = 0;
  bool fails_ = true;
  std::map<std::string, unsigned long long> counts_;
  CUcontext primary_[kDevices] = {};
  std::vector<Made> contexts_;
  std::vector<Pointer> pointers_;
  std::vector<Array> arrays_;
  std::vector<CUmemGenericAllocationHandle> handles_;
  std::vector<CUdeviceptr> mapped_;
  CUdeviceptr places_ = 0;
  std::vector<CUmemoryPool> pools_;
  std::vector<Exec> execs_;
  std::vector<CUdeviceptr> graph_memory_;  // what launches have left allocated
  std::vector<Pointer> borrowed_;
  std::vector<Code> modules_;
  Lent lent_{};
  std::uint64_t lent_bytes_[kDevices] = {};
  std::uint64_t code_[kDevices] = {};        // bytes of modules
  std::uint64_t unmeasured_[kDevices] = {};  // of these, what is not counted yet, or still
};

}  // namespace
}  // namespace gpupool::limiter::test

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  using gpupool::limiter::test::kMib;
  gpupool::limiter::test::Trace trace(std::stoull(argv[1]), std::stoull(argv[3]) * kMib, argc > 4);
  trace.begin();
  for (auto steps = std::stoull(argv[2]); steps > 0; --steps) trace.step();
  trace.print();
  trace.end();
}
