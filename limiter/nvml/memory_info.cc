// SPDX-License-Identifier: Apache-2.0
// nvmlDeviceGetMemoryInfo in both forms: a slice's sizes, as cuMemGetInfo says them.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "limiter/nvml/real_nvml.h"
#include "limiter/nvml/slice_memory.h"

namespace gpupool::limiter {

namespace {

struct Memory {
  std::uint64_t total;
  std::uint64_t free;
  std::uint64_t used;
};

struct MemoryV2 {
  std::uint32_t version;
  std::uint64_t total;
  std::uint64_t reserved;
  std::uint64_t free;
  std::uint64_t used;
};
constexpr std::uint32_t kVersion2 = sizeof(MemoryV2) | 2U << 24U;

constexpr unsigned kUuidBytes = 96;

SliceMemory memory_of(NvmlDevice device) {
  std::array<char, kUuidBytes> uuid{};
  const NvmlReturn result = real_nvml<NvmlReturn(NvmlDevice, char*, unsigned)>(NvmlFn::nvmlDeviceGetUUID)(
      device, uuid.data(), static_cast<unsigned>(uuid.size()));
  uuid.back() = '\0';
  return result == 0 ? slice_memory(uuid.data()) : SliceMemory{false, 0, 0};
}

template <typename Info>
void say_slice(const SliceMemory& slice, Info& info) {
  info.total = std::min(info.total, slice.bytes);
  info.free = std::min(info.free, slice.bytes - slice.used);
  info.used = info.total - std::min(info.total, info.free);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) NvmlReturn nvmlDeviceGetMemoryInfo(NvmlDevice device,
                                                                                     Memory* memory) {
  const NvmlReturn result =
      real_nvml<NvmlReturn(NvmlDevice, Memory*)>(NvmlFn::nvmlDeviceGetMemoryInfo)(device, memory);
  if (result != 0) {
    return result;
  }
  if (const SliceMemory slice = memory_of(device); slice.limited) {
    say_slice(slice, *memory);
  }
  return result;
}

extern "C" __attribute__((visibility("default"))) NvmlReturn nvmlDeviceGetMemoryInfo_v2(NvmlDevice device,
                                                                                        MemoryV2* memory) {
  const NvmlReturn result =
      real_nvml<NvmlReturn(NvmlDevice, MemoryV2*)>(NvmlFn::nvmlDeviceGetMemoryInfo_v2)(device, memory);
  if (result != 0 || memory->version != kVersion2) {
    return result;
  }
  if (const SliceMemory slice = memory_of(device); slice.limited) {
    say_slice(slice, *memory);
    memory->reserved = 0;  // what the driver keeps for itself is not part of a slice
  }
  return result;
}

}  // namespace gpupool::limiter
