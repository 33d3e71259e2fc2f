// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "base/file_identity.h"
#include "base/result.h"
#include "nvidia/nvml/api.h"

namespace gpupool::nvidia {

// NVML's functions as a loaded library has them; null for one that this version lacks.
struct NvmlFunctions {
  using Return = nvml::Return;
  using Device = nvml::Device;

  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  const char* (*error_string)(Return) = nullptr;
  Return (*driver_version)(char*, unsigned int) = nullptr;
  Return (*cuda_version)(int*) = nullptr;
  Return (*device_count)(unsigned int*) = nullptr;
  Return (*handle_by_index)(unsigned int, Device*) = nullptr;
  Return (*uuid)(Device, char*, unsigned int) = nullptr;
  Return (*name)(Device, char*, unsigned int) = nullptr;
  Return (*index)(Device, unsigned int*) = nullptr;
  Return (*minor_number)(Device, unsigned int*) = nullptr;
  Return (*memory)(Device, nvml::Memory*) = nullptr;
  Return (*memory_v2)(Device, nvml::MemoryV2*) = nullptr;
  Return (*pci_info)(Device, nvml::PciInfo*) = nullptr;
  Return (*compute_capability)(Device, int*, int*) = nullptr;
  Return (*utilization)(Device, nvml::Utilization*) = nullptr;
  Return (*compute_processes)(Device, unsigned int*, nvml::ProcessInfo*) = nullptr;
  Return (*graphics_processes)(Device, unsigned int*, nvml::ProcessInfo*) = nullptr;
  Return (*mps_processes)(Device, unsigned int*, nvml::ProcessInfo*) = nullptr;
  Return (*temperature)(Device, unsigned int sensor, unsigned int*) = nullptr;
  Return (*power)(Device, unsigned int*) = nullptr;
  Return (*remapped_rows)(Device, unsigned int*, unsigned int*, unsigned int*, unsigned int*) = nullptr;
  Return (*field_values)(Device, int, nvml::FieldValue*) = nullptr;
  Return (*common_ancestor)(Device, Device, unsigned int*) = nullptr;
  Return (*nvlink_state)(Device, unsigned int link, unsigned int*) = nullptr;
  Return (*nvlink_remote_type)(Device, unsigned int link, unsigned int*) = nullptr;
  Return (*nvlink_remote_pci)(Device, unsigned int link, nvml::PciInfo*) = nullptr;
  Return (*mig_mode)(Device, unsigned int*, unsigned int*) = nullptr;
  Return (*max_mig_devices)(Device, unsigned int*) = nullptr;
  Return (*mig_by_index)(Device, unsigned int, Device*) = nullptr;
  Return (*gpu_instance_id)(Device, unsigned int*) = nullptr;
  Return (*compute_instance_id)(Device, unsigned int*) = nullptr;
  Return (*attributes)(Device, nvml::DeviceAttributes*) = nullptr;
  Return (*supported_events)(Device, unsigned long long*) = nullptr;
  Return (*register_events)(Device, unsigned long long, nvml::EventSet) = nullptr;
  Return (*event_set_create)(nvml::EventSet*) = nullptr;
  Return (*event_set_wait)(nvml::EventSet, nvml::EventData*, unsigned int timeout_ms) = nullptr;
  Return (*event_set_free)(nvml::EventSet) = nullptr;

  // "Driver Not Loaded"; the number where the library has no words.
  std::string explain(Return code) const;
};

// Calls a function of NVML; kFunctionNotFound if this version has none.
template <class... Parameters, class... Arguments>
nvml::Return invoke(nvml::Return (*function)(Parameters...), Arguments... arguments) {
  return function != nullptr ? function(arguments...) : nvml::Return::kFunctionNotFound;
}

// A loaded libnvidia-ml.so.1, unloaded by the destructor; NVML itself is not initialised. Thread-safe.
class NvmlLibrary {
 public:
  // A name that the loader searches for or a path. kNotFound: there is no such library; kInvalidArgument: it
  // is not NVML.
  static base::Result<std::unique_ptr<NvmlLibrary>> load(const std::string& name);
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  const NvmlFunctions& functions() const { return functions_; }
  // Whether the file that was loaded is not the one that lies there now: the driver was replaced.
  bool replaced() const;

 private:
  explicit NvmlLibrary(void* handle) : handle_(handle) {}
  // The first required function that is missing; empty if all are there.
  std::string bind();
  void bind_processes();
  template <class Function>
  bool bind(const char* name, Function*& function);

  void* handle_;
  NvmlFunctions functions_;
  std::string path_;
  base::FileIdentity loaded_;
};

}  // namespace gpupool::nvidia
