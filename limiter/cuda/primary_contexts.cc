// SPDX-License-Identifier: Apache-2.0
// Each device's primary context, which is there as long as somebody has retained it; and green contexts,
// which are parts of it.
#include "limiter/cuda/allocations.h"
#include "limiter/cuda/charge.h"
#include "limiter/cuda/contexts.h"
#include "limiter/cuda/driver_calls.h"
#include "limiter/cuda/session.h"
#include "limiter/cuda/table.h"

namespace gpupool::limiter {

namespace {

struct Primary {
  CUcontext context;
  std::uint64_t number;
};

constinit Table<Primary> primaries;         // by device + 1
constinit Table<CUcontext> green_contexts;  // the context that stands for a green one

std::uint64_t key_of(CUdevice device) { return static_cast<std::uint64_t>(device) + 1; }

enum class Active : std::uint8_t { kNo, kYes, kUnknown };

Active find_active(CUdevice device) {
  unsigned flags = 0;
  int active = 0;
  if (driver::cuDevicePrimaryCtxGetState(device, &flags, &active) != kSuccess) {
    return Active::kUnknown;
  }
  return active != 0 ? Active::kYes : Active::kNo;
}

Primary known_primary(CUdevice device) {
  Primary primary{};
  primaries.get(key_of(device), primary);
  return primary;
}

// What the device had as its primary context is not it any more.
void forget_replaced(const Primary& before, std::uint64_t now) {
  if (before.number != 0 && before.number != now) {
    LeavingContext leaving(before.context, LeavingContext::Ends::kAll, before.number);
    leaving.ended();
  }
}

template <typename Call>
CUresult release_primary(CUdevice device, Call call) {
  if (!session.limits_anything()) {
    return call();
  }
  const Primary primary = known_primary(device);
  CUresult result = kSuccess;
  {
    LeavingContext leaving(primary.context, LeavingContext::Ends::kOneUse, primary.number);
    result = call();
    if (result == kSuccess && find_active(device) == Active::kNo) {
      leaving.ended();
    } else if (result == kSuccess && !leaving.last()) {
      leaving.done();
    } else if (result == kSuccess) {
      leaving.still_used();
    }
  }
  // Another thread may have made the next one before it was asked whether there is one.
  forget_replaced(primary, known_primary(device).number);
  return result;
}

template <typename Call>
CUresult reset_primary(CUdevice device, Call call) {
  const Primary primary = known_primary(device);
  return end_context(primary.context, LeavingContext::Ends::kAll, call, primary.number);
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
  if (find_active(device) != Active::kYes && !reserved.reserve(position, expected_context(position))) {
    return kOutOfMemory;
  }
  const CUresult result = call_patiently(position, reserved.bytes(), call);
  if (result == kSuccess) {
    const std::uint64_t number = context_made(*context, device, reserved);
    Primary before{};
    primaries.change(key_of(device), true, [&](Primary& known) {
      before = known;
      known = Primary{*context, number};
      return true;
    });
    forget_replaced(before, number);
  }
  return result;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return release_primary(device, [=] { return REAL(cuDevicePrimaryCtxRelease)(device); });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return release_primary(device, [=] { return REAL(cuDevicePrimaryCtxRelease_v2)(device); });
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
  return reset_primary(device, [=] { return REAL(cuDevicePrimaryCtxReset)(device); });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return reset_primary(device, [=] { return REAL(cuDevicePrimaryCtxReset_v2)(device); });
}

CUresult cuGreenCtxCreate(CUgreenCtx* context, CUdevResourceDesc description, CUdevice device,
                          unsigned flags) {
  return create_context(context, device,
                        [=] { return REAL(cuGreenCtxCreate)(context, description, device, flags); });
}

CUresult cuGreenCtxDestroy(CUgreenCtx context) {
  auto* const as_context = reinterpret_cast<CUcontext>(context);
  CUcontext stands_for_it = nullptr;
  green_contexts.get(reinterpret_cast<std::uint64_t>(context), stands_for_it);
  LeavingContext leaving(as_context, LeavingContext::Ends::kAll);
  LeavingContext standing(stands_for_it != as_context ? stands_for_it : nullptr, LeavingContext::Ends::kAll);
  const CUresult result = REAL(cuGreenCtxDestroy)(context);
  if (result == kSuccess) {
    standing.done();
    leaving.done();
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
