// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <string>

#include "tests/fake-nvml/machine.h"
#include "tests/fake-nvml/pci.h"

// NVML's functions that find a GPU.
using namespace gpupool::fake_nvml;

namespace {

template <class Wanted>
Return find_gpu(Device* device, Wanted wanted) {
  return with_world([&](const World& world) {
    const auto at = std::ranges::find_if(world.gpus, wanted);
    if (at == world.gpus.end()) return Return::kNotFound;
    if (at->state == State::kLost) return Return::kGpuIsLost;
    *device = machine().handle(at->uuid);
    return Return::kSuccess;
  });
}

}  // namespace

extern "C" {

Return nvmlDeviceGetCount_v2(unsigned int* count) {
  return with_world([&](const World& world) {
    *count = static_cast<unsigned int>(world.gpus.size());
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetCount(unsigned int* count) { return nvmlDeviceGetCount_v2(count); }

Return nvmlDeviceGetHandleByIndex_v2(unsigned int index, Device* device) {
  return with_world([&](const World& world) {
    if (index >= world.gpus.size()) return Return::kInvalidArgument;
    const Gpu& gpu = world.gpus[index];
    if (gpu.state == State::kLost) return Return::kGpuIsLost;
    *device = machine().handle(gpu.uuid);
    return Return::kSuccess;
  });
}

Return nvmlDeviceGetHandleByIndex(unsigned int index, Device* device) {
  return nvmlDeviceGetHandleByIndex_v2(index, device);
}

Return nvmlDeviceGetHandleByUUID(const char* uuid, Device* device) {
  const std::string wanted = uuid != nullptr ? uuid : "";
  const Return as_gpu = find_gpu(device, [&](const Gpu& gpu) { return gpu.uuid == wanted; });
  if (as_gpu != Return::kNotFound) return as_gpu;
  return with_world([&](const World& world) {
    for (const Gpu& gpu : world.gpus) {
      if (std::ranges::find(gpu.mig, wanted, &MigInstance::uuid) == gpu.mig.end()) continue;
      *device = machine().handle(gpu.uuid, wanted);
      return Return::kSuccess;
    }
    return Return::kNotFound;
  });
}

Return nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, Device* device) {
  // Clients also ask with a domain of four digits, and in small letters.
  std::string wanted = bus_id != nullptr ? bus_id : "";
  std::ranges::transform(wanted, wanted.begin(),
                         [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return find_gpu(device, [&](const Gpu& gpu) {
    const std::string full = bus_id_of(gpu);
    return full == wanted || full.substr(4) == wanted;
  });
}

Return nvmlDeviceGetHandleByPciBusId(const char* bus_id, Device* device) {
  return nvmlDeviceGetHandleByPciBusId_v2(bus_id, device);
}

}  // extern "C"
