// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "tests/fake-cuda/call.h"

// The driver's functions about green contexts. Each is a context of its own, with all multiprocessors.
using namespace gpupool::fake_cuda;

CUDA_FUNCTION(cuGreenCtxCreate)(Context** out, void*, Ordinal ordinal, unsigned int) {
  return call_for_device(__func__, ordinal, [&](Driver& d, Device& device) {
    if (out == nullptr) return Result::kInvalidValue;
    Context* const made = d.make_context(device, 0, false);
    return made != nullptr ? put(out, made) : Result::kOutOfMemory;
  });
}
CUDA_FUNCTION(cuGreenCtxDestroy)(Context* context) {
  return call(__func__, [&](Driver& d) {
    if (!d.is_context(context)) return Result::kInvalidContext;
    d.stack().erase(context);
    d.destroy_context(context);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuCtxFromGreenCtx)(Context** out, Context* context) {
  return call(__func__,
              [&](Driver& d) { return d.is_context(context) ? put(out, context) : Result::kInvalidContext; });
}
CUDA_FUNCTION(cuGreenCtxStreamCreate)(Stream** out, Context* context, unsigned int flags, int priority) {
  return call(__func__, [&](Driver& d) {
    if (out == nullptr || !d.is_context(context)) return Result::kInvalidValue;
    *out = new Stream{.context = context, .flags = flags, .priority = priority};
    d.objects().streams.insert(*out);
    return Result::kSuccess;
  });
}
