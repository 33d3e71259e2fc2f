// SPDX-License-Identifier: Apache-2.0
// launch-arguments: calls each function that launches kernels and says which arrived at the driver with
// exactly these arguments.
#include <cinttypes>
#include <initializer_list>
#include <string_view>

#include "tests/fake-cuda/types.h"
#include "tests/limiter/cuda/cuda_program.h"

namespace gpupool::limiter::test {
namespace {

CUfunction function = nullptr;
CUstream stream = nullptr;

template <typename T>
std::uint64_t word(T* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}
template <typename T>
std::uint64_t word(T number) {
  return static_cast<std::uint64_t>(number);
}

template <typename... Args>
void launch(const char* name, Args... args) {
  const int result = cu(name, args...);
  const fake_cuda::Launch& seen = machine().last_launch();
  const std::initializer_list<std::uint64_t> wanted = {word(args)...};
  bool same = std::string_view(name) == seen.name;
  unsigned at = 0;
  for (const std::uint64_t argument : wanted) same = same && seen.arguments[at++] == argument;
  std::printf("%s %s\n", name, result == 0 && same ? "arrived" : "wrong");
}

void start() {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  const bool good = cu("cuInit", 0U) == 0 && cu("cuDevicePrimaryCtxRetain", &context, 0) == 0 &&
                    cu("cuCtxSetCurrent", context) == 0 && cu("cuStreamCreate", &stream, 0U) == 0 &&
                    cu("cuModuleLoadData", &module, static_cast<const void*>("image")) == 0 &&
                    cu("cuModuleGetFunction", &function, module, "kernel") == 0;
  if (!good) std::exit(3);
}

}  // namespace
}  // namespace gpupool::limiter::test

int main() {
  using namespace gpupool::limiter::test;
  start();
  void* parameters[2] = {};
  void* extra[2] = {};
  for (const char* const name : {"cuLaunchKernel", "cuLaunchKernel_ptsz"}) {
    launch(name, function, 1U, 2U, 3U, 4U, 5U, 6U, 7U, stream, &parameters[0], &extra[0]);
  }
  for (const char* const name : {"cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel_ptsz"}) {
    launch(name, function, 11U, 12U, 13U, 14U, 15U, 16U, 17U, stream, &parameters[0]);
  }
  gpupool::fake_cuda::LaunchConfig config{};
  for (const char* const name : {"cuLaunchKernelEx", "cuLaunchKernelEx_ptsz"}) {
    launch(name, &config, function, &parameters[0], &extra[0]);
  }
  gpupool::fake_cuda::MultiDeviceLaunch several[2] = {};
  for (auto& one : several) one.function = reinterpret_cast<gpupool::fake_cuda::Function*>(function);
  launch("cuLaunchCooperativeKernelMultiDevice", &several[0], 2U, 3U);
  launch("cuLaunch", function);
  launch("cuLaunchGrid", function, 21, 22);
  launch("cuLaunchGridAsync", function, 31, 32, stream);
}
