// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "tests/fake-cuda/call.h"
#include "tests/fake-nvml/pci.h"

// The driver's functions about itself and its devices.
using namespace gpupool::fake_cuda;

namespace {

// CU_DEVICE_ATTRIBUTE_*: those that programs ask for before they do anything.
int attribute_of(const Device& device, int attribute) {
  switch (attribute) {
    case 1:  // MAX_THREADS_PER_BLOCK
      return 1024;
    case 2:  // MAX_BLOCK_DIM_X, _Y
    case 3:
      return 1024;
    case 4:
      return 64;
    case 5:  // MAX_GRID_DIM_X
      return 2147483647;
    case 6:
    case 7:
      return 65535;
    case 8:  // MAX_SHARED_MEMORY_PER_BLOCK
      return 49152;
    case 9:  // TOTAL_CONSTANT_MEMORY
      return 65536;
    case 10:  // WARP_SIZE
      return 32;
    case 11:  // MAX_PITCH
      return 2147483647;
    case 12:  // MAX_REGISTERS_PER_BLOCK
    case 82:  // MAX_REGISTERS_PER_MULTIPROCESSOR
      return 65536;
    case 13:  // CLOCK_RATE, kHz
      return 1980000;
    case 14:  // TEXTURE_ALIGNMENT
      return 512;
    case 15:   // GPU_OVERLAP
    case 19:   // CAN_MAP_HOST_MEMORY
    case 31:   // CONCURRENT_KERNELS
    case 41:   // UNIFIED_ADDRESSING
    case 78:   // STREAM_PRIORITIES_SUPPORTED
    case 79:   // GLOBAL_L1_CACHE_SUPPORTED
    case 83:   // MANAGED_MEMORY
    case 89:   // CONCURRENT_MANAGED_ACCESS
    case 90:   // COMPUTE_PREEMPTION_SUPPORTED
    case 95:   // COOPERATIVE_LAUNCH
    case 102:  // VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
    case 103:  // HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED
    case 115:  // MEMORY_POOLS_SUPPORTED
    case 116:  // GPU_DIRECT_RDMA_SUPPORTED
    case 122:  // DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED
      return 1;
    case 16:  // MULTIPROCESSOR_COUNT
      return static_cast<int>(device.gpu.multiprocessors);
    case 33:  // PCI_BUS_ID
      return static_cast<int>(device.gpu.pci_bus);
    case 36:  // MEMORY_CLOCK_RATE
      return 2619000;
    case 37:  // GLOBAL_MEMORY_BUS_WIDTH
      return 5120;
    case 38:  // L2_CACHE_SIZE
      return 50 << 20;
    case 39:  // MAX_THREADS_PER_MULTIPROCESSOR
      return 2048;
    case 40:  // ASYNC_ENGINE_COUNT
      return 3;
    case 75:  // COMPUTE_CAPABILITY_MAJOR
      return device.gpu.compute_major;
    case 76:
      return device.gpu.compute_minor;
    case 81:  // MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
    case 97:  // MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
      return 232448;
    case 106:  // MAX_BLOCKS_PER_MULTIPROCESSOR
      return 32;
    case 119:  // MEMPOOL_SUPPORTED_HANDLE_TYPES
      return 1;
    default:
      return 0;
  }
}

Result uuid_of(const Device& device, Uuid* out) {
  if (out == nullptr) return Result::kInvalidValue;
  *out = {};
  const std::string text = device.uuid.substr(device.uuid.find('-') + 1);
  unsigned at = 0;
  for (std::size_t i = 0; i + 1 < text.size() && at < sizeof out->bytes; ++i) {
    if (text[i] == '-') continue;
    unsigned byte = 0;
    if (std::sscanf(text.substr(i, 2).c_str(), "%2x", &byte) != 1) break;  // NOLINT(cert-err34-c)
    out->bytes[at++] = static_cast<unsigned char>(byte);
    ++i;
  }
  return Result::kSuccess;
}

Result put_words(const std::string& text, char* out, int length) {
  if (out == nullptr || length <= 0) return Result::kInvalidValue;
  std::snprintf(out, static_cast<std::size_t>(length), "%s", text.c_str());
  return Result::kSuccess;
}

}  // namespace

CUDA_FUNCTION(cuInit)(unsigned int flags) {
  Driver& d = driver();
  const std::lock_guard lock(d.mutex);
  if (flags != 0) return Result::kInvalidValue;
  if (const auto failure = d.failure(__func__)) return *failure;
  return d.init();
}

CUDA_FUNCTION(cuDriverGetVersion)(int* version) {
  Driver& d = driver();
  const std::lock_guard lock(d.mutex);
  return put(version, d.cuda_version());
}

CUDA_FUNCTION(cuDeviceGetCount)(int* count) {
  return call(__func__, [&](Driver& d) { return put(count, d.devices().size()); });
}

CUDA_FUNCTION(cuDeviceGet)(Ordinal* out, int ordinal) {
  return call_for_device(__func__, ordinal,
                         [&](Driver&, Device& device) { return put(out, device.ordinal); });
}

CUDA_FUNCTION(cuDeviceGetName)(char* out, int length, Ordinal ordinal) {
  return call_for_device(__func__, ordinal,
                         [&](Driver&, Device& device) { return put_words(device.gpu.model, out, length); });
}

CUDA_FUNCTION(cuDeviceGetUuid)(Uuid* out, Ordinal ordinal) {
  return call_for_device(__func__, ordinal, [&](Driver&, Device& device) { return uuid_of(device, out); });
}

CUDA_FUNCTION(cuDeviceGetUuid_v2)(Uuid* out, Ordinal ordinal) {
  return call_for_device(__func__, ordinal, [&](Driver&, Device& device) { return uuid_of(device, out); });
}

CUDA_FUNCTION(cuDeviceTotalMem_v2)(std::size_t* out, Ordinal ordinal) {
  return call_for_device(__func__, ordinal, [&](Driver&, Device& device) { return put(out, device.memory); });
}

CUDA_FUNCTION(cuDeviceTotalMem)(unsigned int* out, Ordinal ordinal) {
  return call_for_device(__func__, ordinal, [&](Driver&, Device& device) {
    return put(out, std::min<std::uint64_t>(device.memory, 0xFFFFFFFFU));
  });
}

CUDA_FUNCTION(cuDeviceGetAttribute)(int* out, int attribute, Ordinal ordinal) {
  return call_for_device(__func__, ordinal, [&](Driver&, Device& device) {
    return attribute > 0 ? put(out, attribute_of(device, attribute)) : Result::kInvalidValue;
  });
}

CUDA_FUNCTION(cuDeviceComputeCapability)(int* major, int* minor, Ordinal ordinal) {
  return call_for_device(__func__, ordinal, [&](Driver&, Device& device) {
    if (major == nullptr) return Result::kInvalidValue;
    *major = device.gpu.compute_major;
    return put(minor, device.gpu.compute_minor);
  });
}

CUDA_FUNCTION(cuDeviceGetPCIBusId)(char* out, int length, Ordinal ordinal) {
  return call_for_device(__func__, ordinal, [&](Driver&, Device& device) {
    return put_words(gpupool::fake_nvml::bus_id_of(device.gpu).substr(4), out, length);
  });
}

CUDA_FUNCTION(cuDeviceGetByPCIBusId)(Ordinal* out, const char* id) {
  return call(__func__, [&](Driver& d) {
    for (const auto& device : d.devices()) {
      const std::string known = gpupool::fake_nvml::bus_id_of(device->gpu);
      if (id != nullptr && (known == id || known.substr(4) == id)) return put(out, device->ordinal);
    }
    return Result::kInvalidDevice;
  });
}

CUDA_FUNCTION(cuDeviceCanAccessPeer)(int* out, Ordinal first, Ordinal second) {
  return call(__func__, [&](Driver& d) {
    if (d.device(first) == nullptr || d.device(second) == nullptr) return Result::kInvalidDevice;
    return put(out, first != second ? 1 : 0);
  });
}

CUDA_FUNCTION(cuGetExportTable)(const void** table, const Uuid*) {
  // No table is pretended: programs that cannot do without run over NVIDIA's own driver only.
  if (table != nullptr) *table = nullptr;
  return Result::kNotFound;
}
