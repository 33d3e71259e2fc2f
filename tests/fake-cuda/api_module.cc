// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "tests/fake-cuda/allocations.h"
#include "tests/fake-cuda/call.h"
#include "tests/fake-cuda/modules.h"

// The driver's functions about code. Images are not read: every name is a kernel.
using namespace gpupool::fake_cuda;

namespace {

constexpr int kLocalSizeBytes = 3;  // CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES

Result load(const char* name, Module** out, const void* image) {
  return call_in_context(name, [&](Driver& d, Context& context) {
    if (out == nullptr || image == nullptr) return Result::kInvalidValue;
    Module* const made = load_module(d, context);
    return made != nullptr ? put(out, made) : Result::kOutOfMemory;
  });
}

int function_attribute(const Function& function, int attribute) {
  switch (attribute) {
    case 0:  // MAX_THREADS_PER_BLOCK
      return 1024;
    case kLocalSizeBytes:
      return static_cast<int>(function.local_bytes);
    case 4:  // NUM_REGS
      return 32;
    case 5:  // PTX_VERSION
    case 6:  // BINARY_VERSION
      return 90;
    default:
      return 0;
  }
}

}  // namespace

CUDA_FUNCTION(cuModuleLoad)(Module** out, const char* file) {
  std::FILE* const opened = file != nullptr ? std::fopen(file, "re") : nullptr;
  if (opened == nullptr) return file != nullptr ? Result::kFileNotFound : Result::kInvalidValue;
  std::fclose(opened);
  return load(__func__, out, file);
}
CUDA_FUNCTION(cuModuleLoadData)(Module** out, const void* image) { return load(__func__, out, image); }
CUDA_FUNCTION(cuModuleLoadDataEx)(Module** out, const void* image, unsigned int, int*, void**) {
  return load(__func__, out, image);
}
CUDA_FUNCTION(cuModuleLoadFatBinary)(Module** out, const void* image) { return load(__func__, out, image); }
CUDA_FUNCTION(cuModuleUnload)(Module* module) {
  return call_in_context(__func__, [&](Driver& d, Context&) {
    if (!is_module(d, module)) return Result::kInvalidHandle;
    unload_module(d, module);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuModuleGetFunction)(Function** out, Module* module, const char* name) {
  return call_in_context(__func__, [&](Driver& d, Context&) {
    if (!is_module(d, module)) return Result::kInvalidHandle;
    if (name == nullptr || *name == '\0') return Result::kNotFound;
    return put(out, function_of(*module, name));
  });
}
CUDA_FUNCTION(cuModuleGetGlobal_v2)(Pointer*, std::size_t*, Module* module, const char*) {
  return call_in_context(__func__, [&](Driver& d, Context&) {
    return is_module(d, module) ? Result::kNotFound : Result::kInvalidHandle;  // no image has variables
  });
}
CUDA_FUNCTION(cuModuleGetLoadingMode)(int* out) {
  return call(__func__, [&](Driver&) { return put(out, 1); });
}

CUDA_FUNCTION(cuFuncGetAttribute)(int* out, int attribute, Function* function) {
  return call(__func__, [&](Driver& d) {
    if (!is_function(d, function)) return Result::kInvalidHandle;
    return put(out, function_attribute(*function, attribute));
  });
}
CUDA_FUNCTION(cuFuncSetAttribute)(Function* function, int, int) {
  return call(__func__, [&](Driver& d) {
    return is_function(d, function) ? Result::kSuccess : Result::kInvalidHandle;
  });
}
CUDA_FUNCTION(cuFuncLoad)(Function* function) {
  return call(__func__, [&](Driver& d) {
    return is_function(d, function) ? Result::kSuccess : Result::kInvalidHandle;
  });
}
CUDA_FUNCTION(cuFuncSetCacheConfig)(Function* function, int) {
  return call(__func__, [&](Driver& d) {
    return is_function(d, function) ? Result::kSuccess : Result::kInvalidHandle;
  });
}
CUDA_FUNCTION(cuFuncGetModule)(Module** out, Function* function) {
  return call(__func__, [&](Driver& d) {
    return is_function(d, function) ? put(out, function->module) : Result::kInvalidHandle;
  });
}
CUDA_FUNCTION(cuOccupancyMaxActiveBlocksPerMultiprocessor)(int* out, Function* function, int threads,
                                                           std::size_t) {
  return call(__func__, [&](Driver& d) {
    if (!is_function(d, function) || threads <= 0) return Result::kInvalidValue;
    return put(out, 2048 / (threads < 2048 ? threads : 2048));
  });
}
CUDA_FUNCTION(cuOccupancyMaxPotentialBlockSize)
(int* grid, int* block, Function* function, std::size_t (*)(int), std::size_t, int) {
  return call_in_context(__func__, [&](Driver& d, Context& context) {
    if (!is_function(d, function) || grid == nullptr) return Result::kInvalidValue;
    *grid = static_cast<int>(context.device->gpu.multiprocessors) * 2;
    return put(block, 1024);
  });
}
