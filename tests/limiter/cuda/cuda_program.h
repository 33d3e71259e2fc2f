// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "limiter/cuda/types.h"
#include "limiter/limits/paths.h"
#include "limiter/region/layout.h"

// What programs of these tests share: they find the driver as others do, and look into the region and into
// the stand-in.
namespace gpupool::limiter::test {

inline constexpr std::uint64_t kMib = 1ULL << 20U;

inline void* need(void* found, const char* what) {
  if (found == nullptr) {
    std::fprintf(stderr, "missing: %s\n", what);
    std::exit(3);
  }
  return found;
}

inline void* driver_symbol(const char* name) {
  static void* const library = need(dlopen("libcuda.so.1", RTLD_NOW), "libcuda.so.1");
  return need(dlsym(library, name), name);
}

// Calls a function of the driver. The arguments must have the types of its parameters.
template <typename... Args>
int cu(const char* name, Args... args) {
  return reinterpret_cast<int (*)(Args...)>(driver_symbol(name))(args...);
}

// The stand-in itself, which the limiter has loaded for itself alone.
inline void* standin_symbol(const char* name) {
  static void* const library = need(dlopen(std::getenv("STANDIN"), RTLD_NOW | RTLD_NOLOAD),
                                    "the stand-in");  // NOLINT(concurrency-mt-unsafe)
  return need(dlsym(library, name), name);
}

inline std::uint64_t truth(int device) {
  static auto* const bytes = reinterpret_cast<std::uint64_t (*)(int)>(standin_symbol("standin_bytes"));
  return bytes(device);
}

// The call after `good` ones.
inline void fail_next(const char* name, int result, int good = 0) {
  static auto* const fail = reinterpret_cast<void (*)(const char*, int, int)>(standin_symbol("standin_fail"));
  fail(name, result, good);
}

// The region. Its descriptor stays open: the limiter's lock would go with any that this process closes.
inline const Region& region() {
  static const Region* const mapped = [] {
    const int file = open(kRegionPath, O_RDONLY | O_CLOEXEC);
    void* const pages = file < 0 ? MAP_FAILED : mmap(nullptr, sizeof(Region), PROT_READ, MAP_SHARED, file, 0);
    return static_cast<const Region*>(need(pages == MAP_FAILED ? nullptr : pages, "the region"));
  }();
  return *mapped;
}

// What the region says that all processes of the container use.
inline std::uint64_t ledger(int device) {
  std::uint64_t sum = 0;
  for (unsigned word = 0; word < kSlotWords; ++word) {
    for (std::uint64_t bits = region().used_slots[word].load(); bits != 0; bits &= bits - 1) {
      sum += region()
                 .slots[word * 64 + static_cast<unsigned>(std::countr_zero(bits))]
                 .devices[device]
                 .total.load();
    }
  }
  return sum;
}

}  // namespace gpupool::limiter::test
