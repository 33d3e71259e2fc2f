// SPDX-License-Identifier: Apache-2.0
#include "nvidia/nvml/library.h"

#include <dlfcn.h>

namespace gpupool::nvidia {

namespace {

// dlerror() has a text of its own for each thread in glibc.
std::string loader_error() {
  const char* text = dlerror();  // NOLINT(concurrency-mt-unsafe)
  return text != nullptr ? text : "unknown error";
}

}  // namespace

std::string NvmlFunctions::explain(Return code) const {
  const char* text = error_string != nullptr ? error_string(code) : nullptr;
  const std::string number = "NVML error " + std::to_string(static_cast<int>(code));
  return text != nullptr ? text + (" (" + number + ")") : number;
}

base::Result<std::unique_ptr<NvmlLibrary>> NvmlLibrary::load(const std::string& name) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return base::fail(base::ErrorCode::kNotFound, "no NVIDIA driver: " + loader_error());
  std::unique_ptr<NvmlLibrary> library(new NvmlLibrary(handle));
  if (const std::string missing = library->bind(); !missing.empty()) {
    return base::fail(base::ErrorCode::kInvalidArgument, name + " is not NVML: it has no " + missing);
  }
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(library->functions_.init), &info) != 0 && info.dli_fname != nullptr) {
    library->path_ = info.dli_fname;
    library->loaded_ = base::identify(library->path_, base::Links::kFollowed);
  }
  return library;
}

NvmlLibrary::~NvmlLibrary() { dlclose(handle_); }

bool NvmlLibrary::replaced() const {
  return !path_.empty() && base::identify(path_, base::Links::kFollowed) != loaded_;
}

template <class Function>
bool NvmlLibrary::bind(const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(handle_, name));
  return function != nullptr;
}

// The second and third version fill in the same structure; the first is older than the drivers that run here.
void NvmlLibrary::bind_processes() {
  NvmlFunctions& f = functions_;
  bind("nvmlDeviceGetComputeRunningProcesses_v3", f.compute_processes) ||
      bind("nvmlDeviceGetComputeRunningProcesses_v2", f.compute_processes);
  bind("nvmlDeviceGetGraphicsRunningProcesses_v3", f.graphics_processes) ||
      bind("nvmlDeviceGetGraphicsRunningProcesses_v2", f.graphics_processes);
  bind("nvmlDeviceGetMPSComputeRunningProcesses_v3", f.mps_processes) ||
      bind("nvmlDeviceGetMPSComputeRunningProcesses_v2", f.mps_processes);
}

std::string NvmlLibrary::bind() {
  NvmlFunctions& f = functions_;
  if (!bind("nvmlInit_v2", f.init)) return "nvmlInit_v2";
  if (!bind("nvmlShutdown", f.shutdown)) return "nvmlShutdown";
  if (!bind("nvmlDeviceGetCount_v2", f.device_count)) return "nvmlDeviceGetCount_v2";
  if (!bind("nvmlDeviceGetHandleByIndex_v2", f.handle_by_index)) return "nvmlDeviceGetHandleByIndex_v2";
  if (!bind("nvmlDeviceGetUUID", f.uuid)) return "nvmlDeviceGetUUID";

  bind("nvmlErrorString", f.error_string);
  bind("nvmlSystemGetDriverVersion", f.driver_version);
  bind("nvmlSystemGetCudaDriverVersion_v2", f.cuda_version) ||
      bind("nvmlSystemGetCudaDriverVersion", f.cuda_version);
  bind("nvmlDeviceGetName", f.name);
  bind("nvmlDeviceGetIndex", f.index);
  bind("nvmlDeviceGetMinorNumber", f.minor_number);
  bind("nvmlDeviceGetMemoryInfo", f.memory);
  bind("nvmlDeviceGetMemoryInfo_v2", f.memory_v2);
  bind("nvmlDeviceGetPciInfo_v3", f.pci_info);
  bind("nvmlDeviceGetCudaComputeCapability", f.compute_capability);
  bind("nvmlDeviceGetUtilizationRates", f.utilization);
  bind_processes();
  bind("nvmlDeviceGetTemperature", f.temperature);
  bind("nvmlDeviceGetPowerUsage", f.power);
  bind("nvmlDeviceGetRemappedRows", f.remapped_rows);
  bind("nvmlDeviceGetFieldValues", f.field_values);
  bind("nvmlDeviceGetTopologyCommonAncestor", f.common_ancestor);
  bind("nvmlDeviceGetNvLinkState", f.nvlink_state);
  bind("nvmlDeviceGetNvLinkRemoteDeviceType", f.nvlink_remote_type);
  bind("nvmlDeviceGetNvLinkRemotePciInfo_v2", f.nvlink_remote_pci);
  bind("nvmlDeviceGetMigMode", f.mig_mode);
  bind("nvmlDeviceGetMaxMigDeviceCount", f.max_mig_devices);
  bind("nvmlDeviceGetMigDeviceHandleByIndex", f.mig_by_index);
  bind("nvmlDeviceGetGpuInstanceId", f.gpu_instance_id);
  bind("nvmlDeviceGetComputeInstanceId", f.compute_instance_id);
  bind("nvmlDeviceGetAttributes_v2", f.attributes);
  bind("nvmlDeviceGetSupportedEventTypes", f.supported_events);
  bind("nvmlDeviceRegisterEvents", f.register_events);
  bind("nvmlEventSetCreate", f.event_set_create);
  // The first version fills in less of the same structure.
  bind("nvmlEventSetWait_v2", f.event_set_wait) || bind("nvmlEventSetWait", f.event_set_wait);
  bind("nvmlEventSetFree", f.event_set_free);
  return {};
}

}  // namespace gpupool::nvidia
