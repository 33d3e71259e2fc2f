// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-nvml/machine.h"

// NVML's functions about the library and the driver.
using namespace gpupool::fake_nvml;

extern "C" {

Return nvmlInit_v2() {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  return m.init();
}

Return nvmlInit() { return nvmlInit_v2(); }
Return nvmlInitWithFlags(unsigned int) { return nvmlInit_v2(); }

Return nvmlShutdown() {
  Machine& m = machine();
  const std::lock_guard lock(m.mutex);
  return m.shutdown();
}

const char* nvmlErrorString(Return code) {
  switch (code) {
    case Return::kSuccess:
      return "Success";
    case Return::kUninitialized:
      return "Uninitialized";
    case Return::kInvalidArgument:
      return "Invalid Argument";
    case Return::kNotSupported:
      return "Not Supported";
    case Return::kNotFound:
      return "Not Found";
    case Return::kInsufficientSize:
      return "Insufficient Size";
    case Return::kDriverNotLoaded:
      return "Driver Not Loaded";
    case Return::kTimeout:
      return "Timeout";
    case Return::kGpuIsLost:
      return "GPU is lost";
    case Return::kResetRequired:
      return "GPU requires reset";
    case Return::kLibraryMismatch:
      return "Driver/library version mismatch";
    default:
      return "Unknown Error";
  }
}

Return nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  return with_world([&](const World& world) { return put_text(world.driver_version, version, length); });
}

Return nvmlSystemGetNVMLVersion(char* version, unsigned int length) {
  return with_world([&](const World& world) {
    return put_text(std::to_string(world.cuda_version / 1000) + "." + world.driver_version, version, length);
  });
}

Return nvmlSystemGetCudaDriverVersion_v2(int* version) {
  return with_world([&](const World& world) {
    *version = world.cuda_version;
    return Return::kSuccess;
  });
}

Return nvmlSystemGetCudaDriverVersion(int* version) { return nvmlSystemGetCudaDriverVersion_v2(version); }

}  // extern "C"
