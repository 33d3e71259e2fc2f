// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "limiter/cuda/charge.h"
#include "limiter/cuda/context_charge.h"
#include "limiter/cuda/session.h"
#include "limiter/cuda/types.h"

namespace gpupool::limiter {

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

// `call()` ends a use of the context, or the context. `number` as in LeavingContext.
template <typename Call>
CUresult end_context(CUcontext context, LeavingContext::Ends ends, Call call, std::uint64_t number = 0) {
  LeavingContext leaving(context, ends, number);
  const CUresult result = call();
  if (result == kSuccess) {
    leaving.done();
  }
  return result;
}

void forget_context_handles_after_fork();

}  // namespace gpupool::limiter
