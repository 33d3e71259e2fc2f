// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/fake-cuda/call.h"

// What the driver says of its results. Both work before cuInit.
using namespace gpupool::fake_cuda;

namespace {

struct ErrorText {
  Result code;
  const char* name;
  const char* text;
};

constexpr ErrorText kErrorTexts[] = {
    {Result::kSuccess, "CUDA_SUCCESS", "no error"},
    {Result::kInvalidValue, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {Result::kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {Result::kNotInitialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {Result::kDeinitialized, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {Result::kNoDevice, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {Result::kInvalidDevice, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {Result::kInvalidImage, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {Result::kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {Result::kFileNotFound, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {Result::kOperatingSystem, "CUDA_ERROR_OPERATING_SYSTEM",
     "OS call failed or operation not supported on this OS"},
    {Result::kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {Result::kIllegalState, "CUDA_ERROR_ILLEGAL_STATE",
     "the operation cannot be performed in the present state"},
    {Result::kNotFound, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {Result::kNotReady, "CUDA_ERROR_NOT_READY", "device not ready"},
    {Result::kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {Result::kContextIsDestroyed, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {Result::kHostMemoryAlreadyRegistered, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {Result::kHostMemoryNotRegistered, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {Result::kNotPermitted, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {Result::kNotSupported, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {Result::kStreamCaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {Result::kStreamCaptureInvalidated, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {Result::kUnknown, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

Result find_text(Result code, const char* ErrorText::* member, const char** out) {
  if (out == nullptr) return Result::kInvalidValue;
  const auto* const known = std::ranges::find(kErrorTexts, code, &ErrorText::code);
  *out = known != std::end(kErrorTexts) ? known->*member : nullptr;
  return *out != nullptr ? Result::kSuccess : Result::kInvalidValue;
}

}  // namespace

CUDA_FUNCTION(cuGetErrorName)(Result code, const char** out) {
  return find_text(code, &ErrorText::name, out);
}
CUDA_FUNCTION(cuGetErrorString)(Result code, const char** out) {
  return find_text(code, &ErrorText::text, out);
}
