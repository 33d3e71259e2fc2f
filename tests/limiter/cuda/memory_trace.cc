// SPDX-License-Identifier: Apache-2.0
// memory-trace SEED STEPS LIMIT_MIB: random calls of all kinds that allocate or free, one in eight of them
// made to fail. After each the region must say exactly what the stand-in holds, and that must be within the
// limit (the same for both devices). What was refused must not have fitted. Prints how often each kind of
// call went well.
#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/limiter/cuda/cuda_program.h"

namespace gpupool::limiter::test {
namespace {

constexpr std::uint64_t kGranule = 2 * kMib;
constexpr int kDevices = 2;

struct Pointer {
  CUdeviceptr address;
  CUcontext context;  // nullptr: of a pool
  bool pool;
};

class Trace {
 public:
  Trace(std::uint64_t seed, std::uint64_t limit) : random_(seed), limit_(limit) {}

  void begin() {
    ok("cuInit", 0U);
    for (int device = 0; device < kDevices; ++device) {
      ok("cuDevicePrimaryCtxRetain", &primary_[device], device);
    }
    ok("cuCtxSetCurrent", primary_[0]);
  }
  void step() {
    using Method = void (Trace::*)();
    constexpr std::array<Method, 8> kRows = {&Trace::linear,   &Trace::free_one, &Trace::array,
                                             &Trace::physical, &Trace::pooled,   &Trace::pool,
                                             &Trace::graph,    &Trace::context};
    (this->*kRows[below(kRows.size())])();
  }
  // Everything is given back.
  void end() {
    fails_ = false;
    while (!pointers_.empty()) free_at(0);
    while (!arrays_.empty()) destroy_array(0);
    while (!mapped_.empty()) unmap(0);
    while (!handles_.empty()) release(0);
    ok("cuCtxSynchronize");
    for (CUmemoryPool pool : pools_) ok("cuMemPoolDestroy", pool);
    while (!contexts_.empty()) destroy_context(0);
    for (int device = 0; device < kDevices; ++device) {
      ok("cuDeviceGraphMemTrim", device);
      ok("cuDevicePrimaryCtxRelease_v2", device);
      check("end", ledger(device) == 0 && truth(device) == 0);
    }
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
    // The first call that makes an array asks for its size.
    const bool asks =
        std::string_view(name) == "cuArray3DCreate_v2" || std::string_view(name) == "cuMipmappedArrayCreate";
    if (injected) fail_next(name, chance(2) ? 2 : 999, asks ? 1 : 0);
    const std::uint64_t before = truth(device);
    const int result = cu(name, args...);
    if (injected) fail_next("", 0);
    ++calls_;
    counts_[std::string(name) + (result == 0 ? "" : result == 2 ? " out-of-memory" : " failed")]++;
    if (needs != 0 && result == 2 && !injected)
      check((std::string(name) + ": refused").c_str(), before + needs > limit_);
    for (int i = 0; i < kDevices; ++i) check(name, ledger(i) == truth(i) && truth(i) <= limit_);
    return result;
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
    switch (below(5)) {
      case 0:
        result = any("cuMemAllocPitch_v2", &address, &pitch, 1 + below(9000), 1 + below(3000), 4U);
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
    const int result =
        async ? any("cuMemFreeAsync", pointer.address, CUstream{}) : any("cuMemFree_v2", pointer.address);
    if (result == 0) pointers_.erase(pointers_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void array() {
    if (!arrays_.empty() && chance(arrays_.size() > 10 ? 1 : 3)) return destroy_array(below(arrays_.size()));
    void* made = nullptr;
    const ArrayDescriptor flat{1 + below(4096), 1 + below(2048), 0x20, 1};
    const Array3dDescriptor deep{
        1 + below(512), 1 + below(256), below(32), 0x20, 1, chance(3) ? kArrayDeferred : 0};
    const std::size_t kind = below(3);
    const int result = kind == 0   ? any("cuArrayCreate_v2", &made, &flat)
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
      next_mapping_ += 64 * kMib;
      const CUmemGenericAllocationHandle which = handles_[below(handles_.size())];
      if (any("cuMemMap", next_mapping_, std::size_t{kGranule}, std::size_t{0}, which, 0ULL) == 0) {
        mapped_.push_back(next_mapping_);
      }
    } else if (kind == 4) {
      if (any("cuMemImportFromShareableHandle", &handle, static_cast<void*>(nullptr), 1) == 0)
        handles_.push_back(handle);
    } else if (kind > 4) {
      MemAllocationProp prop{};
      prop.type = 1;
      prop.location = {chance(5) ? 3 : kLocationDevice, static_cast<int>(below(kDevices))};
      const std::size_t bytes = kGranule * (1 + below(8));
      const std::uint64_t needs = prop.location.type == kLocationDevice ? bytes : 0;
      if (attempt("cuMemCreate", prop.location.id, needs, &handle, bytes, &prop, 0ULL) == 0)
        handles_.push_back(handle);
    }
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
    const int result = pools_.empty() || chance(2) ? any("cuMemAllocAsync", &address, bytes, CUstream{})
                                                   : any("cuMemAllocFromPoolAsync", &address, bytes,
                                                         pools_[below(pools_.size())], CUstream{});
    if (result == 0) pointers_.push_back({address, nullptr, true});
  }
  void pool() {
    CUmemoryPool made = nullptr;
    if (pools_.size() < 4 && chance(3)) {
      MemPoolProps props{};
      props.location = {chance(5) ? 2 : kLocationDevice, static_cast<int>(below(kDevices))};
      if (any("cuMemPoolCreate", &made, &props) == 0) pools_.push_back(made);
      return;
    }
    std::uint64_t threshold = below(64 * kMib);
    const int kind = static_cast<int>(below(6));
    if (kind == 0 && !pools_.empty()) {
      const std::size_t at = below(pools_.size());
      if (any("cuMemPoolDestroy", pools_[at]) == 0)
        pools_.erase(pools_.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (kind == 1 && !pools_.empty()) {
      any("cuMemPoolTrimTo", pools_[below(pools_.size())], below(8 * kMib));
    } else if (kind == 2 && !pools_.empty()) {
      any("cuMemPoolSetAttribute", pools_[below(pools_.size())], 4, static_cast<void*>(&threshold));
    } else if (kind == 3) {
      any("cuStreamSynchronize", CUstream{});
    } else {
      any("cuCtxSynchronize");
    }
  }

  void graph() {
    const std::size_t kind = below(8);
    if (kind == 0) {
      any("cuDeviceGraphMemTrim", static_cast<int>(below(kDevices)));
    } else if (kind < 4 && !execs_.empty()) {
      any(chance(3) ? "cuGraphUpload" : "cuGraphLaunch", execs_[below(execs_.size())], CUstream{});
    } else if (kind == 4 && !execs_.empty()) {
      const std::size_t at = below(execs_.size());
      if (any("cuGraphExecDestroy", execs_[at]) == 0)
        execs_.erase(execs_.begin() + static_cast<std::ptrdiff_t>(at));
    } else if (execs_.size() < 8) {
      CUgraph made = nullptr;
      CUgraphNode node = nullptr;
      CUgraphExec exec = nullptr;
      cu("cuGraphCreate", &made, 0U);
      MemAllocNodeParams params{};
      params.pool_props.location = {kLocationDevice, static_cast<int>(below(kDevices))};
      for (std::size_t nodes = below(3); nodes > 0; --nodes) {
        params.bytesize = 1 + below(10 * kMib);
        cu("cuGraphAddMemAllocNode", &node, made, static_cast<const CUgraphNode*>(nullptr), std::size_t{0},
           &params);
      }
      if (any("cuGraphInstantiateWithFlags", &exec, made, 0ULL) == 0) execs_.push_back(exec);
    }
  }

  void context() {
    CUcontext made = nullptr;
    const int device = static_cast<int>(below(kDevices));
    switch (below(6)) {
      case 0:
        if (contexts_.size() < 3 && attempt("cuCtxCreate_v2", device, 64 * kMib, &made, 0U, device) == 0) {
          contexts_.push_back(made);
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
           contexts_.empty() || chance(2) ? primary_[device] : contexts_[below(contexts_.size())]);
    }
  }
  void destroy_context(std::size_t at) {
    const CUcontext context = contexts_[at];
    if (any("cuCtxDestroy_v2", context) != 0) return;
    contexts_.erase(contexts_.begin() + static_cast<std::ptrdiff_t>(at));
    std::erase_if(pointers_,
                  [=](const Pointer& pointer) { return !pointer.pool && pointer.context == context; });
    std::erase_if(arrays_, [=](const Array& array) { return array.context == context; });
    cu("cuCtxSetCurrent", primary_[0]);
  }

  struct Array {
    void* handle;
    CUcontext context;
    bool mipmapped;
  };
  std::mt19937_64 random_;
  std::uint64_t limit_;
  std::uint64_t calls_ = 0;
  bool fails_ = true;
  std::map<std::string, unsigned long long> counts_;
  CUcontext primary_[kDevices] = {};
  std::vector<CUcontext> contexts_;
  std::vector<Pointer> pointers_;
  std::vector<Array> arrays_;
  std::vector<CUmemGenericAllocationHandle> handles_;
  std::vector<CUdeviceptr> mapped_;
  CUdeviceptr next_mapping_ = 1ULL << 45U;
  std::vector<CUmemoryPool> pools_;
  std::vector<CUgraphExec> execs_;
};

}  // namespace
}  // namespace gpupool::limiter::test

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  using gpupool::limiter::test::kMib;
  gpupool::limiter::test::Trace trace(std::stoull(argv[1]), std::stoull(argv[3]) * kMib);
  trace.begin();
  for (auto steps = std::stoull(argv[2]); steps > 0; --steps) trace.step();
  trace.print();
  trace.end();
}
