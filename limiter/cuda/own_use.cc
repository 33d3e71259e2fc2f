// SPDX-License-Identifier: Apache-2.0
#include "limiter/cuda/own_use.h"

#include <dlfcn.h>  // RTLD_NOW, RTLD_LOCAL
#include <unistd.h>

#include <array>
#include <atomic>

#include "limiter/proxy/dl_functions.h"
#include "limiter/proxy/library_search.h"

namespace gpupool::limiter {

namespace {

using NvmlDeviceHandle = struct NvmlDevice_st*;

struct NvmlProcess {  // nvmlProcessInfo_v2_t
  unsigned pid;
  unsigned long long used;
  unsigned gpu_instance;
  unsigned compute_instance;
};

struct Nvml {
  int (*init)();
  int (*device_by_uuid)(const char* uuid, NvmlDeviceHandle* device);
  int (*processes)(NvmlDeviceHandle device, unsigned* count, NvmlProcess* list);
};

constexpr unsigned kListed = 128;  // processes of the container that use the device

enum class NvmlState : unsigned char { kNotTried, kReady, kNone };
constinit std::atomic<NvmlState> nvml_state{NvmlState::kNotTried};
constinit std::atomic<void*> nvml_library{nullptr};

bool open_nvml(const char* path, void* handle) {
  const DlFunctions dl = dl_functions();
  void* const opened = dl.open == nullptr ? nullptr : dl.open(path, RTLD_NOW | RTLD_LOCAL);
  *static_cast<void**>(handle) = opened;
  return opened != nullptr;
}

template <typename Function>
bool nvml_symbol(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dl_functions().symbol(library, name));
  return function != nullptr;
}

bool find_nvml_functions(void* library, Nvml& nvml) {
  return nvml_symbol(library, "nvmlInit_v2", nvml.init) &&
         nvml_symbol(library, "nvmlDeviceGetHandleByUUID", nvml.device_by_uuid) &&
         (nvml_symbol(library, "nvmlDeviceGetComputeRunningProcesses_v3", nvml.processes) ||
          nvml_symbol(library, "nvmlDeviceGetComputeRunningProcesses_v2", nvml.processes));
}

// Two threads may do this at once; they find the same.
bool load_nvml(Nvml& nvml) {
  void* library = nvml_library.load(std::memory_order_acquire);
  if (library == nullptr) {
    search_library("libnvidia-ml.so.1", open_nvml, static_cast<void*>(&library));
  }
  if (library == nullptr || !find_nvml_functions(library, nvml)) {
    nvml_state.store(NvmlState::kNone, std::memory_order_release);
    return false;
  }
  nvml_library.store(library, std::memory_order_release);
  if (nvml_state.load(std::memory_order_acquire) != NvmlState::kReady) {
    if (nvml.init() != 0) {
      return false;
    }
    nvml_state.store(NvmlState::kReady, std::memory_order_release);
  }
  return true;
}

}  // namespace

OwnUse own_use(const char* uuid, std::uint64_t& bytes) {
  Nvml nvml{};
  NvmlDeviceHandle device = nullptr;
  if (nvml_state.load(std::memory_order_acquire) == NvmlState::kNone || !load_nvml(nvml) ||
      nvml.device_by_uuid(uuid, &device) != 0) {
    return OwnUse::kUnknown;
  }
  std::array<NvmlProcess, kListed> list{};
  unsigned count = kListed;
  if (nvml.processes(device, &count, list.data()) != 0) {
    return OwnUse::kUnknown;
  }
  const auto own = static_cast<unsigned>(getpid());
  for (unsigned i = 0; i < count && i < kListed; ++i) {
    if (list[i].pid == own) {
      bytes = list[i].used;
      return bytes != ~0ULL ? OwnUse::kKnown : OwnUse::kUnknown;  // "not available"
    }
  }
  return OwnUse::kNotListed;
}

void forget_own_use_after_fork() {
  if (nvml_state.load(std::memory_order_relaxed) == NvmlState::kReady) {
    nvml_state.store(NvmlState::kNotTried, std::memory_order_relaxed);
  }
}

}  // namespace gpupool::limiter
