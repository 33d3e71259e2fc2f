// SPDX-License-Identifier: Apache-2.0
#include "limiter/cuda/stream_device.h"

#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/session.h"

namespace gpupool::limiter {

CUresult device_of_stream(CUstream stream, CUdevice& device) {
  CUcontext context = nullptr;
  // Below are the null stream, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD.
  const bool is_default = reinterpret_cast<std::uintptr_t>(stream) <= 2;
  if (is_default || driver::cuStreamGetCtx(stream, &context) != kSuccess || context == current_context()) {
    return driver::cuCtxGetDevice(&device);
  }
  CUresult result = driver::cuCtxPushCurrent_v2(context);
  if (result == kSuccess) {
    result = driver::cuCtxGetDevice(&device);
    driver::cuCtxPopCurrent_v2(&context);
  }
  return result;
}

CUresult is_captured(CUstream stream, bool own_default, bool& captured) {
  Enum status = kCaptureNone;
  const CUresult result = own_default ? driver::cuStreamIsCapturing_ptsz(stream, &status)
                                      : driver::cuStreamIsCapturing(stream, &status);
  captured = result == kSuccess && status != kCaptureNone;
  return result == kNotFound ? kSuccess : result;
}

}  // namespace gpupool::limiter
