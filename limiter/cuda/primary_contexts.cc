// SPDX-License-Identifier: Apache-2.0
// Each device's primary context, which is there as long as somebody has retained it; and green contexts,
// which are parts of it.
#include "limiter/cuda/allocations.h"
#include "limiter/cuda/charge.h"
#include "limiter/cuda/context_charge.h"
#include "limiter/cuda/contexts.h"
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/session.h"
#include "limiter/cuda/table.h"

namespace gpupool::limiter {

namespace {

constinit Table<CUcontext> primaries;       // by device + 1
constinit Table<CUcontext> green_contexts;  // the context that stands for a green one

std::uint64_t key_of(CUdevice device) { return static_cast<std::uint64_t>(device) + 1; }

bool is_active(CUdevice device) {
  unsigned flags = 0;
  int active = 0;
  return driver::cuDevicePrimaryCtxGetState(device, &flags, &active) == kSuccess && active != 0;
}

void primary_gone(CUdevice device) {
  CUcontext context = nullptr;
  if (primaries.take(key_of(device), context)) {
    context_destroyed(context);
  }
}

CUresult primary_released(CUresult result, CUdevice device) {
  if (result == kSuccess && session.limits_anything() && !is_active(device)) {
    primary_gone(device);
  }
  return result;
}

CUresult primary_reset(CUresult result, CUdevice device) {
  if (result == kSuccess) {
    primary_gone(device);
  }
  return result;
}

}  // namespace

void forget_context_handles_after_fork() {
  primaries.forget_after_fork();
  green_contexts.forget_after_fork();
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  const auto call = [=] { return REAL(cuDevicePrimaryCtxRetain)(context, device); };
  if (context == nullptr || !session.limits_anything()) {
    return call();
  }
  const unsigned position = session.position(device);
  Reserved reserved;
  if (!is_active(device) && !reserved.reserve(position, expected_context(position))) {
    return kOutOfMemory;
  }
  const CUresult result = call_patiently(position, reserved.bytes(), call);
  if (result == kSuccess) {
    primaries.put(key_of(device), *context);
    context_made(*context, device, reserved);
  }
  return result;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return primary_released(REAL(cuDevicePrimaryCtxRelease)(device), device);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return primary_released(REAL(cuDevicePrimaryCtxRelease_v2)(device), device);
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return primary_reset(REAL(cuDevicePrimaryCtxReset)(device), device);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return primary_reset(REAL(cuDevicePrimaryCtxReset_v2)(device), device);
}

CUresult cuGreenCtxCreate(CUgreenCtx* context, CUdevResourceDesc description, CUdevice device,
                          unsigned flags) {
  const auto call = [=] { return REAL(cuGreenCtxCreate)(context, description, device, flags); };
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

CUresult cuGreenCtxDestroy(CUgreenCtx context) {
  const CUresult result = REAL(cuGreenCtxDestroy)(context);
  if (result == kSuccess) {
    CUcontext stands_for_it = nullptr;
    if (green_contexts.take(reinterpret_cast<std::uint64_t>(context), stands_for_it)) {
      context_gone(stands_for_it);
    }
    context_destroyed(reinterpret_cast<CUcontext>(context));
  }
  return result;
}

CUresult cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx context, unsigned flags, int priority) {
  const CUresult result = REAL(cuGreenCtxStreamCreate)(stream, context, flags, priority);
  CUdevice device = 0;
  unsigned position = kUncharged;
  if (result == kSuccess && session.limits_anything() && session.current(device, position) == kSuccess) {
    contexts_changed(position);
  }
  return result;
}

CUresult cuCtxFromGreenCtx(CUcontext* context, CUgreenCtx green) {
  const CUresult result = REAL(cuCtxFromGreenCtx)(context, green);
  if (result == kSuccess && context != nullptr && session.limits_anything()) {
    green_contexts.put(reinterpret_cast<std::uint64_t>(green), *context);
  }
  return result;
}

}  // namespace gpupool::limiter
