// SPDX-License-Identifier: Apache-2.0
#include "tests/limiter/nvml/say_memory.h"

#include <dlfcn.h>

#include <array>
#include <cstdint>
#include <iostream>

namespace {

template <typename Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

int say_memory() {
  struct Memory {
    std::uint64_t total, free, used;
  };
  struct MemoryV2 {
    std::uint32_t version;
    std::uint64_t total, reserved, free, used;
  };
  constexpr std::uint32_t kVersion = sizeof(MemoryV2) | 2U << 24U;
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (library == nullptr || find<int()>(library, "nvmlInit_v2")() != 0) {
    std::cerr << "say-memory: no NVML\n";
    return 1;
  }
  unsigned count = 0;
  find<int(unsigned*)>(library, "nvmlDeviceGetCount_v2")(&count);
  for (unsigned index = 0; index < count; ++index) {
    void* device = nullptr;
    std::array<char, 96> uuid{};
    find<int(unsigned, void**)>(library, "nvmlDeviceGetHandleByIndex_v2")(index, &device);
    find<int(void*, char*, unsigned)>(library, "nvmlDeviceGetUUID")(device, uuid.data(), 96);
    Memory memory{};
    const int result = find<int(void*, Memory*)>(library, "nvmlDeviceGetMemoryInfo")(device, &memory);
    MemoryV2 newer{.version = kVersion, .total = 0, .reserved = 9, .free = 0, .used = 0};
    auto* const get_newer = find<int(void*, MemoryV2*)>(library, "nvmlDeviceGetMemoryInfo_v2");
    const int newer_result = get_newer(device, &newer);
    MemoryV2 unknown{.version = 77, .total = 0, .reserved = 0, .free = 0, .used = 0};
    std::cout << uuid.data() << ' ' << result << ' ' << memory.total << ' ' << memory.free << ' '
              << memory.used << ' ' << newer_result << ' ' << newer.total << ' ' << newer.free << ' '
              << newer.used << ' ' << newer.reserved << ' ' << get_newer(device, &unknown) << '\n';
  }
  std::cout.flush();
  return 0;
}
