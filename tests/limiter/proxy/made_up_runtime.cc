// SPDX-License-Identifier: Apache-2.0
// A libcudart.so with two functions. With SUSPICIOUS it answers otherwise where the driver is not the
// driver's own file, so that a comparison has something to find.
#include <dlfcn.h>

#include <string_view>

extern "C" {
int cudaGetDeviceCount(int* count);
int cudaRuntimeGetVersion(int* version);
}

namespace {

void* driver_function(const char* name) {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  return driver == nullptr ? nullptr : dlsym(driver, name);
}

}  // namespace

int cudaGetDeviceCount(int* count) {
  void* const init = driver_function("cuProfilerStart");
  if (init == nullptr) return 35;
  *count = 0;
#ifdef SUSPICIOUS
  Dl_info place{};
  dladdr(init, &place);
  if (std::string_view(place.dli_fname).find("gpupool-vgpu") != std::string_view::npos) return 999;
#endif
  return reinterpret_cast<int (*)()>(init)();
}

int cudaRuntimeGetVersion(int* version) {
  *version = 12000;
  return 0;
}
