// SPDX-License-Identifier: Apache-2.0
// Contexts: each takes memory of its own, and owns what is allocated in it.
#include "limiter/cuda/contexts.h"

#include "limiter/cuda/driver_calls.h"

namespace gpupool::limiter {

CUresult cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  return create_context(context, device, [=] { return REAL(cuCtxCreate)(context, flags, device); });
}

CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return create_context(context, device, [=] { return REAL(cuCtxCreate_v2)(context, flags, device); });
}

CUresult cuCtxCreate_v3(CUcontext* context, void* affinity, int count, unsigned flags, CUdevice device) {
  return create_context(context, device,
                        [=] { return REAL(cuCtxCreate_v3)(context, affinity, count, flags, device); });
}

CUresult cuCtxCreate_v4(CUcontext* context, void* params, unsigned flags, CUdevice device) {
  return create_context(context, device,
                        [=] { return REAL(cuCtxCreate_v4)(context, params, flags, device); });
}

CUresult cuGLCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  return create_context(context, device, [=] { return REAL(cuGLCtxCreate)(context, flags, device); });
}

CUresult cuGLCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return create_context(context, device, [=] { return REAL(cuGLCtxCreate_v2)(context, flags, device); });
}

CUresult cuVDPAUCtxCreate(CUcontext* context, unsigned flags, CUdevice device, std::uint32_t display,
                          void* address) {
  return create_context(context, device,
                        [=] { return REAL(cuVDPAUCtxCreate)(context, flags, device, display, address); });
}

CUresult cuVDPAUCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device, std::uint32_t display,
                             void* address) {
  return create_context(context, device,
                        [=] { return REAL(cuVDPAUCtxCreate_v2)(context, flags, device, display, address); });
}

CUresult cuCtxDestroy(CUcontext context) {
  return end_context(context, LeavingContext::Ends::kAll, [=] { return REAL(cuCtxDestroy)(context); });
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  return end_context(context, LeavingContext::Ends::kAll, [=] { return REAL(cuCtxDestroy_v2)(context); });
}

CUresult cuCtxAttach(CUcontext* context, unsigned flags) {
  const CUresult result = REAL(cuCtxAttach)(context, flags);
  if (result == kSuccess && context != nullptr) {
    context_attached(*context);
  }
  return result;
}

CUresult cuCtxDetach(CUcontext context) {
  return end_context(context, LeavingContext::Ends::kOneUse, [=] { return REAL(cuCtxDetach)(context); });
}

}  // namespace gpupool::limiter
