// SPDX-License-Identifier: Apache-2.0
// Contexts: each takes memory of its own, and owns what is allocated in it.
#include "limiter/cuda/contexts.h"

#include "limiter/cuda/charge.h"
#include "limiter/cuda/context_charge.h"
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/session.h"

namespace gpupool::limiter {

namespace {

// `call()` makes a context and stores it in `context`.
template <typename Context, typename Call>
CUresult create_context(Context* context, CUdevice device, Call call) {
  if (context == nullptr || !session.limits_anything()) {
    return call();
  }
  const unsigned position = session.position(device);
  Reserved reserved;
  if (!reserved.reserve(position, expected_context(position))) {
    return kOutOfMemory;
  }
  const CUresult result = call_patiently(position, reserved.bytes(), call);
  if (result == kSuccess) {
    context_made(reinterpret_cast<CUcontext>(*context), device, reserved);
  }
  return result;
}

// `call()` ends a use of the context.
template <typename Call>
CUresult end_context(CUcontext context, LeavingContext::Ends ends, Call call) {
  LeavingContext leaving(context, ends);
  const CUresult result = call();
  if (result == kSuccess) {
    leaving.done();
  }
  return result;
}

}  // namespace

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
