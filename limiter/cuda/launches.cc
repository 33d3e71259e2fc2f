// SPDX-License-Identifier: Apache-2.0
// Calls that launch kernels. Graphs are launched in graphs.cc.
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/launch_gate.h"

#define GPUPOOL_GRID_VALUES grid_x, grid_y, grid_z, block_x, block_y, block_z

namespace gpupool::limiter {

CUresult cuLaunchKernel(CUfunction function, GPUPOOL_GRID, unsigned shared, CUstream stream,
                        void** parameters, void** extra) {
  pass_launch_gate();
  return REAL(cuLaunchKernel)(function, GPUPOOL_GRID_VALUES, shared, stream, parameters, extra);
}

CUresult cuLaunchKernel_ptsz(CUfunction function, GPUPOOL_GRID, unsigned shared, CUstream stream,
                             void** parameters, void** extra) {
  pass_launch_gate();
  return REAL(cuLaunchKernel_ptsz)(function, GPUPOOL_GRID_VALUES, shared, stream, parameters, extra);
}

CUresult cuLaunchKernelEx(const void* config, CUfunction function, void** parameters, void** extra) {
  pass_launch_gate();
  return REAL(cuLaunchKernelEx)(config, function, parameters, extra);
}

CUresult cuLaunchKernelEx_ptsz(const void* config, CUfunction function, void** parameters, void** extra) {
  pass_launch_gate();
  return REAL(cuLaunchKernelEx_ptsz)(config, function, parameters, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, GPUPOOL_GRID, unsigned shared, CUstream stream,
                                   void** parameters) {
  pass_launch_gate();
  return REAL(cuLaunchCooperativeKernel)(function, GPUPOOL_GRID_VALUES, shared, stream, parameters);
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction function, GPUPOOL_GRID, unsigned shared, CUstream stream,
                                        void** parameters) {
  pass_launch_gate();
  return REAL(cuLaunchCooperativeKernel_ptsz)(function, GPUPOOL_GRID_VALUES, shared, stream, parameters);
}

CUresult cuLaunchCooperativeKernelMultiDevice(void* launches, unsigned count, unsigned flags) {
  pass_launch_gate();
  return REAL(cuLaunchCooperativeKernelMultiDevice)(launches, count, flags);
}

CUresult cuLaunch(CUfunction function) {
  pass_launch_gate();
  return REAL(cuLaunch)(function);
}

CUresult cuLaunchGrid(CUfunction function, int width, int height) {
  pass_launch_gate();
  return REAL(cuLaunchGrid)(function, width, height);
}

CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
  pass_launch_gate();
  return REAL(cuLaunchGridAsync)(function, width, height, stream);
}

}  // namespace gpupool::limiter
