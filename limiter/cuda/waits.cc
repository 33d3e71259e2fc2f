// SPDX-License-Identifier: Apache-2.0
// Where a pool gives back what was freed: the program waits for work of the device.
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/older_drivers.h"
#include "limiter/cuda/pool_charge.h"
#include "limiter/cuda/session.h"

namespace gpupool::limiter {

namespace {

CUresult waited(CUresult result, bool for_device) {
  if (result == kSuccess && pools_may_have_shrunk(kUncharged)) {
    CUdevice device = 0;
    unsigned position = kUncharged;
    if (for_device) {
      session.current(device, position);
    }
    pools_have_waited(position);
  }
  return result;
}

}  // namespace

CUresult cuCtxSynchronize() { return waited(REAL(cuCtxSynchronize)(), true); }

CUresult cuCtxSynchronize_v2(CUcontext context) {
  if (only_older(Fn::cuCtxSynchronize_v2, Fn::cuCtxSynchronize)) {
    return cuCtxSynchronize();
  }
  return waited(REAL(cuCtxSynchronize_v2)(context), false);
}

CUresult cuStreamSynchronize(CUstream stream) { return waited(REAL(cuStreamSynchronize)(stream), false); }

CUresult cuStreamSynchronize_ptsz(CUstream stream) {
  return waited(REAL(cuStreamSynchronize_ptsz)(stream), false);
}

CUresult cuEventSynchronize(CUevent event) { return waited(REAL(cuEventSynchronize)(event), false); }

}  // namespace gpupool::limiter
