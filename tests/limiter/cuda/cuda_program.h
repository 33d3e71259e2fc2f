// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "limiter/cuda/types.h"
#include "limiter/limits/paths.h"
#include "limiter/region/layout.h"
#include "tests/fake-cuda/state.h"

// What programs of these tests share: they find the driver as others do, and look into the region and into
// the state file of the fake driver.
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

// The file that stands for the GPUs' memory.
inline fake_cuda::StateFile& machine() {
  static fake_cuda::StateFile file;
  if (!file.is_open() && !file.open(fake_cuda::StateFile::default_path(), true)) {
    std::fprintf(stderr, "no state file\n");
    std::exit(3);
  }
  return file;
}

// NVML's name for the devices of these tests.
inline std::string uuid_of(int device) {
  return "GPU-00000000-0000-0000-0000-00000000000" + std::to_string(device);
}

// Bytes of a device that all processes hold, managed memory in full.
inline std::uint64_t truth(int device) {
  const int at = machine().device(uuid_of(device), true);
  std::uint64_t sum = 0;
  for (const fake_cuda::ProcessBytes& process : machine().processes(static_cast<unsigned>(at))) {
    for (const std::uint64_t bytes : process.bytes) sum += bytes;
  }
  return sum;
}

// The next call of this function after `good` ones; nullptr: none.
inline void fail_next(const char* name, int result = 0, unsigned good = 0) {
  machine().ask(name, result, good);
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
      const Slot& slot = region().slots[word * 64 + static_cast<unsigned>(std::countr_zero(bits))];
      sum += slot.devices[device].total.load();
    }
  }
  return sum;
}

}  // namespace gpupool::limiter::test
