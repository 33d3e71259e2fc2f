// SPDX-License-Identifier: Apache-2.0
// A program finds all names here, also those that its driver is too old to have. numba looks for the newest
// form of each name: it has to get what the older form does, where the arguments of that one come first.
#include "limiter/cuda/older_drivers.h"
#include "limiter/cuda/driver_calls.h"

namespace gpupool::limiter {

bool only_older(Fn newer, Fn older) {
  return driver_function(newer) == nullptr && driver_function(older) != nullptr;
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  if (only_older(Fn::cuCtxGetDevice_v2, Fn::cuCtxGetDevice)) {
    return driver::cuCtxGetDevice(device);
  }
  return REAL(cuCtxGetDevice_v2)(device, context);
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent begin, CUevent end) {
  if (only_older(Fn::cuEventElapsedTime_v2, Fn::cuEventElapsedTime)) {
    return driver::cuEventElapsedTime(milliseconds, begin, end);
  }
  return REAL(cuEventElapsedTime_v2)(milliseconds, begin, end);
}

}  // namespace gpupool::limiter
