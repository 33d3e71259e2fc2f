// SPDX-License-Identifier: Apache-2.0
// Code in the device's memory. How much it takes is told by NVML alone, so it is measured afterwards.
#include "limiter/cuda/context_charge.h"
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/session.h"

namespace gpupool::limiter {

namespace {

// Code of a library is in several contexts, and a module is not always of the current one.
CUresult code_changed(CUresult result) {
  if (result == kSuccess && session.limits_anything()) {
    for (unsigned position = 0; position < kMaxDevices; ++position) {
      contexts_changed(position);
    }
  }
  return result;
}

}  // namespace

CUresult cuModuleLoad(CUmodule* module, const char* file) {
  return code_changed(REAL(cuModuleLoad)(module, file));
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return code_changed(REAL(cuModuleLoadData)(module, image));
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, Enum* options,
                            void** values) {
  return code_changed(REAL(cuModuleLoadDataEx)(module, image, count, options, values));
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return code_changed(REAL(cuModuleLoadFatBinary)(module, image));
}

CUresult cuModuleUnload(CUmodule module) { return code_changed(REAL(cuModuleUnload)(module)); }

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, Enum* jit_options, void** jit_values,
                           unsigned jit_count, Enum* options, void** values, unsigned count) {
  return code_changed(
      REAL(cuLibraryLoadData)(library, code, jit_options, jit_values, jit_count, options, values, count));
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* file, Enum* jit_options, void** jit_values,
                               unsigned jit_count, Enum* options, void** values, unsigned count) {
  return code_changed(
      REAL(cuLibraryLoadFromFile)(library, file, jit_options, jit_values, jit_count, options, values, count));
}

CUresult cuLibraryUnload(CUlibrary library) { return code_changed(REAL(cuLibraryUnload)(library)); }

CUresult cuLinkComplete(CUlinkState state, void** cubin, std::size_t* size) {
  return code_changed(REAL(cuLinkComplete)(state, cubin, size));
}

CUresult cuFuncLoad(CUfunction function) { return code_changed(REAL(cuFuncLoad)(function)); }

CUresult cuFuncSetAttribute(CUfunction function, Enum attribute, int value) {
  return code_changed(REAL(cuFuncSetAttribute)(function, attribute, value));
}

}  // namespace gpupool::limiter
