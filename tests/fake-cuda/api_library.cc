// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "tests/fake-cuda/call.h"
#include "tests/fake-cuda/modules.h"

// The driver's functions about libraries and the linker. A library is one module, of the context in which it
// was loaded, and a kernel is its function. What the linker is given it forgets.
using namespace gpupool::fake_cuda;

namespace {

Result load_library(const char* name, Module** out, const void* image) {
  return call_in_context(name, [&](Driver& d, Context& context) {
    if (out == nullptr || image == nullptr) return Result::kInvalidValue;
    Module* const made = load_module(d, context);
    return made != nullptr ? put(out, made) : Result::kOutOfMemory;
  });
}

template <class Body>
Result call_for_library(const char* name, Module* library, Body body) {
  return call(name,
              [&](Driver& d) { return is_module(d, library) ? body(d, *library) : Result::kInvalidHandle; });
}

constexpr char kLinked[] = "linked";

}  // namespace

#define CUDA_LOAD_OPTIONS int*, void**, unsigned int, int*, void**, unsigned int
CUDA_FUNCTION(cuLibraryLoadData)(Module** out, const void* image, CUDA_LOAD_OPTIONS) {
  return load_library(__func__, out, image);
}
CUDA_FUNCTION(cuLibraryLoadFromFile)(Module** out, const char* file, CUDA_LOAD_OPTIONS) {
  std::FILE* const opened = file != nullptr ? std::fopen(file, "re") : nullptr;
  if (opened == nullptr) return file != nullptr ? Result::kFileNotFound : Result::kInvalidValue;
  std::fclose(opened);
  return load_library(__func__, out, file);
}
CUDA_FUNCTION(cuLibraryUnload)(Module* library) {
  return call_for_library(__func__, library, [](Driver& d, Module& known) {
    unload_module(d, &known);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuLibraryGetModule)(Module** out, Module* library) {
  return call_for_library(__func__, library, [&](Driver&, Module& known) { return put(out, &known); });
}
CUDA_FUNCTION(cuLibraryGetKernel)(Function** out, Module* library, const char* name) {
  return call_for_library(__func__, library, [&](Driver&, Module& known) {
    if (name == nullptr || *name == '\0') return Result::kNotFound;
    return put(out, function_of(known, name));
  });
}
CUDA_FUNCTION(cuKernelGetFunction)(Function** out, Function* kernel) {
  return call(__func__,
              [&](Driver& d) { return is_function(d, kernel) ? put(out, kernel) : Result::kInvalidHandle; });
}

CUDA_FUNCTION(cuLinkCreate_v2)(unsigned int, int*, void**, void** out) {
  return call_in_context(__func__,
                         [&](Driver&, Context&) { return put(out, const_cast<char*>(&kLinked[0])); });
}
CUDA_FUNCTION(cuLinkAddData_v2)
(void*, int, void*, std::size_t, const char*, unsigned int, int*, void**) {
  return call_in_context(__func__, [](Driver&, Context&) { return Result::kSuccess; });
}
CUDA_FUNCTION(cuLinkComplete)(void*, void** image, std::size_t* size) {
  return call_in_context(__func__, [&](Driver&, Context&) {
    if (size != nullptr) *size = sizeof kLinked;
    return put(image, const_cast<char*>(&kLinked[0]));
  });
}
CUDA_FUNCTION(cuLinkDestroy)(void*) {
  return call(__func__, [](Driver&) { return Result::kSuccess; });
}
