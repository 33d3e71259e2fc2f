// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/fake-cuda/call.h"

// The driver's functions about contexts.
using namespace gpupool::fake_cuda;

namespace {

Result create(Driver& d, Context** out, unsigned int flags, Ordinal ordinal) {
  Device* const device = d.device(ordinal);
  if (device == nullptr) return Result::kInvalidDevice;
  if (out == nullptr) return Result::kInvalidValue;
  Context* const made = d.make_context(*device, flags, false);
  if (made == nullptr) return Result::kOutOfMemory;
  d.stack().push_back(made);
  *out = made;
  return Result::kSuccess;
}

Result destroy(Driver& d, Context* context) {
  if (!d.is_context(context)) return Result::kInvalidContext;
  if (context->primary) return Result::kInvalidContext;
  d.stack().erase(context);
  d.destroy_context(context);
  return Result::kSuccess;
}

Result release_primary(Driver& d, Ordinal ordinal) {
  Device* const device = d.device(ordinal);
  if (device == nullptr) return Result::kInvalidDevice;
  if (device->primary == nullptr || device->primary_users == 0) return Result::kInvalidContext;
  if (--device->primary_users == 0) d.destroy_context(device->primary);
  return Result::kSuccess;
}

Result reset_primary(Driver& d, Ordinal ordinal) {
  Device* const device = d.device(ordinal);
  if (device == nullptr) return Result::kInvalidDevice;
  device->primary_users = 0;
  if (device->primary != nullptr) d.destroy_context(device->primary);
  return Result::kSuccess;
}

Result pop(Driver& d, Context** out) {
  if (d.stack().empty()) return Result::kInvalidContext;
  if (out != nullptr) *out = d.stack().back();
  d.stack().pop_back();
  return Result::kSuccess;
}

Result push(Driver& d, Context* context) {
  if (!d.is_context(context)) return Result::kInvalidContext;
  d.stack().push_back(context);
  return Result::kSuccess;
}

// What a limit takes of the device.
std::uint64_t limit_bytes(const Device& device, unsigned limit, std::uint64_t value) {
  if (limit == kLimitStack) return round_up(value * device.gpu.multiprocessors * 2048, kGranule);
  return limit == kLimitHeap || limit == kLimitPrintf ? round_up(value, kGranule) : 0;
}

Result set_limit(Driver& d, Context& context, unsigned limit, std::size_t value) {
  if (limit >= kLimits) return Result::kInvalidValue;
  const std::uint64_t before = limit_bytes(*context.device, limit, context.limits[limit]);
  const std::uint64_t after = limit_bytes(*context.device, limit, value);
  // What a new context has is part of its own size.
  if (after > before) {
    if (!d.charge(*context.device, Kind::kContext, after - before)) return Result::kOutOfMemory;
    context.charged += after - before;
  } else if (before > after && context.charged > before - after) {
    d.discharge(*context.device, Kind::kContext, before - after);
    context.charged -= before - after;
  }
  context.limits[limit] = value;
  return Result::kSuccess;
}

}  // namespace

CUDA_FUNCTION(cuCtxCreate)(Context** out, unsigned int flags, Ordinal device) {
  return call(__func__, [&](Driver& d) { return create(d, out, flags, device); });
}
CUDA_FUNCTION(cuCtxCreate_v2)(Context** out, unsigned int flags, Ordinal device) {
  return call(__func__, [&](Driver& d) { return create(d, out, flags, device); });
}
CUDA_FUNCTION(cuCtxCreate_v3)(Context** out, void*, int, unsigned int flags, Ordinal device) {
  return call(__func__, [&](Driver& d) { return create(d, out, flags, device); });
}
CUDA_FUNCTION(cuCtxCreate_v4)(Context** out, void*, unsigned int flags, Ordinal device) {
  return call(__func__, [&](Driver& d) { return create(d, out, flags, device); });
}

CUDA_FUNCTION(cuCtxDestroy)(Context* context) {
  return call(__func__, [&](Driver& d) { return destroy(d, context); });
}
CUDA_FUNCTION(cuCtxDestroy_v2)(Context* context) {
  return call(__func__, [&](Driver& d) { return destroy(d, context); });
}

CUDA_FUNCTION(cuCtxAttach)(Context** out, unsigned int flags) {
  return call_in_context(__func__, [&](Driver&, Context& context) {
    if (flags != 0) return Result::kInvalidValue;
    ++context.uses;
    return put(out, &context);
  });
}
CUDA_FUNCTION(cuCtxDetach)(Context* context) {
  return call(__func__, [&](Driver& d) {
    if (!d.is_context(context)) return Result::kInvalidContext;
    return --context->uses > 0 ? Result::kSuccess : destroy(d, context);
  });
}

CUDA_FUNCTION(cuDevicePrimaryCtxRetain)(Context** out, Ordinal ordinal) {
  return call_for_device(__func__, ordinal, [&](Driver& d, Device& device) {
    if (out == nullptr) return Result::kInvalidValue;
    if (device.primary == nullptr) {
      device.primary = d.make_context(device, device.primary_flags, true);
      if (device.primary == nullptr) return Result::kOutOfMemory;
    }
    ++device.primary_users;
    return put(out, device.primary);
  });
}
CUDA_FUNCTION(cuDevicePrimaryCtxRelease)(Ordinal ordinal) {
  return call(__func__, [&](Driver& d) { return release_primary(d, ordinal); });
}
CUDA_FUNCTION(cuDevicePrimaryCtxRelease_v2)(Ordinal ordinal) {
  return call(__func__, [&](Driver& d) { return release_primary(d, ordinal); });
}
CUDA_FUNCTION(cuDevicePrimaryCtxReset)(Ordinal ordinal) {
  return call(__func__, [&](Driver& d) { return reset_primary(d, ordinal); });
}
CUDA_FUNCTION(cuDevicePrimaryCtxReset_v2)(Ordinal ordinal) {
  return call(__func__, [&](Driver& d) { return reset_primary(d, ordinal); });
}
CUDA_FUNCTION(cuDevicePrimaryCtxSetFlags)(Ordinal ordinal, unsigned int flags) {
  return call_for_device(__func__, ordinal, [&](Driver&, Device& device) {
    device.primary_flags = flags;
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuDevicePrimaryCtxSetFlags_v2)(Ordinal ordinal, unsigned int flags) {
  return call_for_device(__func__, ordinal, [&](Driver&, Device& device) {
    device.primary_flags = flags;
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuDevicePrimaryCtxGetState)(Ordinal ordinal, unsigned int* flags, int* active) {
  return call_for_device(__func__, ordinal, [&](Driver&, Device& device) {
    if (flags == nullptr) return Result::kInvalidValue;
    *flags = device.primary_flags;
    return put(active, device.primary != nullptr ? 1 : 0);
  });
}

CUDA_FUNCTION(cuCtxGetCurrent)(Context** out) {
  return call(__func__, [&](Driver& d) { return put(out, d.current()); });
}
CUDA_FUNCTION(cuCtxSetCurrent)(Context* context) {
  return call(__func__, [&](Driver& d) {
    if (context != nullptr && !d.is_context(context)) return Result::kInvalidContext;
    auto& stack = d.stack();
    if (!stack.empty()) stack.pop_back();
    if (context != nullptr) stack.push_back(context);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuCtxPushCurrent)(Context* context) {
  return call(__func__, [&](Driver& d) { return push(d, context); });
}
CUDA_FUNCTION(cuCtxPushCurrent_v2)(Context* context) {
  return call(__func__, [&](Driver& d) { return push(d, context); });
}
CUDA_FUNCTION(cuCtxPopCurrent)(Context** out) {
  return call(__func__, [&](Driver& d) { return pop(d, out); });
}
CUDA_FUNCTION(cuCtxPopCurrent_v2)(Context** out) {
  return call(__func__, [&](Driver& d) { return pop(d, out); });
}

CUDA_FUNCTION(cuCtxGetDevice)(Ordinal* out) {
  return call_in_context(__func__,
                         [&](Driver&, Context& context) { return put(out, context.device->ordinal); });
}
CUDA_FUNCTION(cuCtxGetDevice_v2)(Ordinal* out, Context* context) {
  return call(__func__, [&](Driver& d) {
    const Context* const asked = context != nullptr ? context : d.current();
    return d.is_context(asked) ? put(out, asked->device->ordinal) : Result::kInvalidContext;
  });
}
CUDA_FUNCTION(cuCtxGetFlags)(unsigned int* out) {
  return call_in_context(__func__, [&](Driver&, Context& context) { return put(out, context.flags); });
}
CUDA_FUNCTION(cuCtxGetId)(Context* context, unsigned long long* out) {
  return call(__func__, [&](Driver& d) {
    const Context* const asked = context != nullptr ? context : d.current();
    return d.is_context(asked) ? put(out, reinterpret_cast<std::uintptr_t>(asked)) : Result::kInvalidContext;
  });
}
CUDA_FUNCTION(cuCtxGetApiVersion)(Context*, unsigned int* out) {
  return call(__func__, [&](Driver&) { return put(out, 3020U); });
}
CUDA_FUNCTION(cuCtxGetLimit)(std::size_t* out, unsigned int limit) {
  return call_in_context(__func__, [&](Driver&, Context& context) {
    return limit < kLimits ? put(out, context.limits[limit]) : Result::kInvalidValue;
  });
}
CUDA_FUNCTION(cuCtxSetLimit)(unsigned int limit, std::size_t value) {
  return call_in_context(__func__,
                         [&](Driver& d, Context& context) { return set_limit(d, context, limit, value); });
}
CUDA_FUNCTION(cuCtxSetFlags)(unsigned int flags) {
  return call_in_context(__func__, [&](Driver&, Context& context) {
    context.flags = flags;
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuCtxGetStreamPriorityRange)(int* least, int* greatest) {
  return call_in_context(__func__, [&](Driver&, Context&) {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuCtxGetSharedMemConfig)(int* out) {
  return call_in_context(__func__, [&](Driver&, Context&) { return put(out, 1); });
}
CUDA_FUNCTION(cuCtxSetSharedMemConfig)(int) {
  return call_in_context(__func__, [](Driver&, Context&) { return Result::kSuccess; });
}
CUDA_FUNCTION(cuCtxGetCacheConfig)(int* out) {
  return call_in_context(__func__, [&](Driver&, Context&) { return put(out, 0); });
}
CUDA_FUNCTION(cuCtxSetCacheConfig)(int) {
  return call_in_context(__func__, [](Driver&, Context&) { return Result::kSuccess; });
}
CUDA_FUNCTION(cuCtxEnablePeerAccess)(Context* peer, unsigned int) {
  return call_in_context(__func__, [&](Driver& d, Context&) {
    return d.is_context(peer) ? Result::kSuccess : Result::kInvalidContext;
  });
}
CUDA_FUNCTION(cuCtxDisablePeerAccess)(Context* peer) {
  return call_in_context(__func__, [&](Driver& d, Context&) {
    return d.is_context(peer) ? Result::kSuccess : Result::kInvalidContext;
  });
}
