// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/call.h"
#include "tests/fake-cuda/streams.h"

// The driver's functions that launch kernels. The state file says what they were called with.
using namespace gpupool::fake_cuda;

namespace {

template <class Pointer>
std::uint64_t word(Pointer* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

template <class Number>
std::uint64_t word(Number number) {
  return static_cast<std::uint64_t>(number);
}

template <class... Arguments>
Result launch_one(const char* name, Function* function, Stream* stream, Arguments... arguments) {
  return call_in_context(name, [&](Driver& d, Context& context) {
    d.state().note_launch(name, {word(arguments)...});
    return launch(d, context, function, stream);
  });
}

Result launch_each(const char* name, MultiDeviceLaunch* launches, unsigned int count, unsigned int flags) {
  return call_in_context(name, [&](Driver& d, Context& context) {
    if (launches == nullptr || count == 0) return Result::kInvalidValue;
    d.state().note_launch(name, {word(launches), count, flags});
    Result code = Result::kSuccess;
    for (unsigned i = 0; i < count && code == Result::kSuccess; ++i)
      code = launch(d, context, launches[i].function, launches[i].stream);
    return code;
  });
}

}  // namespace

// The two forms of a function are told apart, so that tests see which one was called.
#define CUDA_GRID \
  unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, unsigned int by, unsigned int bz
#define CUDA_GRID_VALUES gx, gy, gz, bx, by, bz
CUDA_FUNCTION(cuLaunchKernel)
(Function* function, CUDA_GRID, unsigned int shared, Stream* stream, void** parameters, void** extra) {
  return launch_one(__func__, function, stream, function, CUDA_GRID_VALUES, shared, stream, parameters,
                    extra);
}
CUDA_FUNCTION(cuLaunchKernel_ptsz)
(Function* function, CUDA_GRID, unsigned int shared, Stream* stream, void** parameters, void** extra) {
  return launch_one(__func__, function, stream, function, CUDA_GRID_VALUES, shared, stream, parameters,
                    extra);
}
CUDA_FUNCTION(cuLaunchKernelEx)
(const LaunchConfig* config, Function* function, void** parameters, void** extra) {
  if (config == nullptr) return Result::kInvalidValue;
  return launch_one(__func__, function, config->stream, config, function, parameters, extra);
}
CUDA_FUNCTION(cuLaunchKernelEx_ptsz)
(const LaunchConfig* config, Function* function, void** parameters, void** extra) {
  if (config == nullptr) return Result::kInvalidValue;
  return launch_one(__func__, function, config->stream, config, function, parameters, extra);
}
CUDA_FUNCTION(cuLaunchCooperativeKernel)
(Function* function, CUDA_GRID, unsigned int shared, Stream* stream, void** parameters) {
  return launch_one(__func__, function, stream, function, CUDA_GRID_VALUES, shared, stream, parameters);
}
CUDA_FUNCTION(cuLaunchCooperativeKernel_ptsz)
(Function* function, CUDA_GRID, unsigned int shared, Stream* stream, void** parameters) {
  return launch_one(__func__, function, stream, function, CUDA_GRID_VALUES, shared, stream, parameters);
}
CUDA_FUNCTION(cuLaunchCooperativeKernelMultiDevice)
(MultiDeviceLaunch* launches, unsigned int count, unsigned int flags) {
  return launch_each(__func__, launches, count, flags);
}
CUDA_FUNCTION(cuLaunch)(Function* function) { return launch_one(__func__, function, nullptr, function); }
CUDA_FUNCTION(cuLaunchGrid)(Function* function, int width, int height) {
  return launch_one(__func__, function, nullptr, function, width, height);
}
CUDA_FUNCTION(cuLaunchGridAsync)(Function* function, int width, int height, Stream* stream) {
  return launch_one(__func__, function, stream, function, width, height, stream);
}
