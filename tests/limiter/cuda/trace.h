// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "tests/limiter/cuda/cuda_program.h"

namespace gpupool::limiter::test {
inline constexpr std::uint64_t kGranule = 2 * kMib;
inline constexpr int kDevices = 2;
inline constexpr unsigned kPlaces = 64;  // for mappings, of 64 MiB of addresses
inline constexpr std::uint64_t kPlaceSize = 64 * kMib;

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

struct Pointer {
  CUdeviceptr address;
  CUcontext context;  // nullptr: of a pool
  bool pool;
};

struct Exec {
  CUgraphExec handle;
  std::vector<CUdeviceptr> kept;  // what its launch allocates and does not free
  bool plain;                     // without memory
};

// Random calls; memory_trace.cc says what of them must hold.
class Trace {
 public:
  Trace(std::uint64_t seed, std::uint64_t limit, bool measured)
      : random_(seed), limit_(limit), measured_(measured) {}

  void begin();
  void step();
  // Everything is given back.
  void end();
  void check(const char* what, bool good);
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
    const std::uint64_t before = needs != 0 ? truth(device) : 0;
    const int result = cu(name, args...);
    if (injected) fail_next(nullptr);
    ++calls_;
    counts_[std::string(name) + (result == 0 ? "" : result == 2 && !injected ? " refused" : " failed")]++;
    if (needs != 0 && result == 2 && !injected)
      check((std::string(name) + ": refused").c_str(), before + needs > limit_);
    for (int i = 0; i < kDevices; ++i) check(name, agrees(i));
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

  void linear();
  void free_one();
  void free_at(std::size_t at);

  void array();
  void destroy_array(std::size_t at);

  void physical();
  // Memory of this process or of the lender, which is charged for it.
  void import_one();
  void release(std::size_t at);
  void unmap(std::size_t at);

  void pooled();
  void pool();

  void graph();

  static constexpr const CUgraphNode* kNoNodes = nullptr;

  Exec make_nodes(CUgraph graph);
  void instantiate(CUgraph graph, Exec& exec);
  void run(const Exec& exec);

  // What a captured stream allocates becomes a graph.
  void capture();

  // Memory that is mapped to a part of an array stays until the array is destroyed.
  void tiles();

  // Memory of another process, and of the host.
  void borrowed();
  void give_back(std::size_t at);

  // Modules and libraries of the primary context.
  void code();
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
  void unload(std::size_t at);

  void context();
  void destroy_context(std::size_t at);
  // The primary context of a device ends and begins anew.
  void reset(int device);
  void forget(CUcontext context);

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

}  // namespace gpupool::limiter::test
