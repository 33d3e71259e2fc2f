// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-nvml/machine.h"
#include "tests/fake-nvml/pci.h"

// NVML's functions that describe a GPU.
using namespace gpupool::fake_nvml;

namespace {

template <class T>
Return tell(Device device, T* out, T (*what)(const Target&)) {
  return with_device(device, [&](const Target& target) {
    if (out == nullptr) return Return::kInvalidArgument;
    *out = what(target);
    return Return::kSuccess;
  });
}

}  // namespace

extern "C" {

Return nvmlDeviceGetUUID(Device device, char* uuid, unsigned int length) {
  return with_device(device, [&](const Target& target) {
    return put_text(target.mig != nullptr ? target.mig->uuid : target.gpu->uuid, uuid, length);
  });
}

Return nvmlDeviceGetName(Device device, char* name, unsigned int length) {
  return with_device(device, [&](const Target& target) {
    const std::string mig = target.mig != nullptr ? " MIG " + target.mig->profile : "";
    return put_text(target.gpu->model + mig, name, length);
  });
}

Return nvmlDeviceGetIndex(Device device, unsigned int* index) {
  return tell<unsigned int>(device, index, [](const Target& target) {
    if (target.mig == nullptr) return target.index;
    return static_cast<unsigned int>(target.mig - target.gpu->mig.data());
  });
}

Return nvmlDeviceGetMinorNumber(Device device, unsigned int* minor) {
  return tell<unsigned int>(device, minor, [](const Target& target) { return target.gpu->minor; });
}

Return nvmlDeviceGetBrand(Device device, unsigned int* brand) {
  return tell<unsigned int>(device, brand, [](const Target& target) { return target.gpu->brand; });
}

Return nvmlDeviceGetArchitecture(Device device, unsigned int* architecture) {
  return tell<unsigned int>(device, architecture,
                            [](const Target& target) { return target.gpu->architecture; });
}

Return nvmlDeviceGetSerial(Device device, char* serial, unsigned int length) {
  return with_device(device, [&](const Target& target) {
    return put_text(std::to_string(1560000000 + target.index), serial, length);
  });
}

Return nvmlDeviceGetComputeMode(Device device, unsigned int* mode) {
  return tell<unsigned int>(device, mode, [](const Target&) { return 0U; });
}

Return nvmlDeviceGetPersistenceMode(Device device, unsigned int* mode) {
  return tell<unsigned int>(device, mode, [](const Target&) { return 1U; });
}

Return nvmlDeviceGetCudaComputeCapability(Device device, int* major, int* minor) {
  return with_device(device, [&](const Target& target) {
    *major = target.gpu->compute_major;
    *minor = target.gpu->compute_minor;
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetPciInfo_v3(Device device, nvml::PciInfo* pci) {
  return tell<nvml::PciInfo>(device, pci, [](const Target& target) { return pci_info_of(*target.gpu); });
}

}  // extern "C"
