// SPDX-License-Identifier: Apache-2.0
// Contexts and code.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tests/fake-cuda/types.h"
#include "tests/limiter/cuda/trace.h"

namespace gpupool::limiter::test {

void Trace::context() {
  CUcontext made = nullptr;
  const int device = static_cast<int>(below(kDevices));
  switch (below(8)) {
    case 6:
      if (contexts_.size() < 3 &&
          any("cuGreenCtxCreate", &made, static_cast<void*>(nullptr), device, 1U) == 0) {
        cu("cuCtxFromGreenCtx", &made, made);
        contexts_.push_back({made, true});
      }
      break;
    case 7:
      if (chance(4)) reset(device);
      break;
    case 0:
      if (contexts_.size() < 3 && attempt("cuCtxCreate_v2", device, 64 * kMib, &made, 0U, device) == 0) {
        contexts_.push_back({made, false});
      }
      break;
    case 1:
      if (!contexts_.empty()) destroy_context(below(contexts_.size()));
      break;
    case 2:
      if (any("cuDevicePrimaryCtxRetain", &made, device) == 0) cu("cuDevicePrimaryCtxRelease_v2", device);
      break;
    case 3:
      any("cuCtxSetLimit", static_cast<int>(below(3)), std::size_t{1024} * (1 + below(4)));
      break;
    default:
      cu("cuCtxSetCurrent",
         contexts_.empty() || chance(2) ? primary_[device] : contexts_[below(contexts_.size())].handle);
  }
}

void Trace::destroy_context(std::size_t at) {
  const CUcontext context = contexts_[at].handle;
  if (any(contexts_[at].green ? "cuGreenCtxDestroy" : "cuCtxDestroy_v2", context) != 0) return;
  contexts_.erase(contexts_.begin() + static_cast<std::ptrdiff_t>(at));
  forget(context);
  cu("cuCtxSetCurrent", primary_[0]);
}

void Trace::reset(int device) {
  const CUcontext before = primary_[device];
  for (const Code& module : modules_) {
    if (module.device != device) continue;
    code_[device] -= kGranule;
    unmeasured_[device] -= kGranule;
  }
  if (any_without_failures("cuDevicePrimaryCtxReset_v2", device) != 0)
    check("cuDevicePrimaryCtxReset_v2", false);
  std::erase_if(modules_, [=](const Code& module) { return module.device == device; });
  forget(before);
  while (any("cuDevicePrimaryCtxRetain", &primary_[device], device) != 0) free_one();
  cu("cuCtxSetCurrent", primary_[0]);
}

void Trace::forget(CUcontext context) {
  std::erase_if(pointers_,
                [=](const Pointer& pointer) { return !pointer.pool && pointer.context == context; });
  std::erase_if(borrowed_, [=](const Pointer& pointer) { return pointer.context == context; });
  std::erase_if(arrays_, [=](const Array& array) { return array.context == context; });
}

void Trace::code() {
  if (!measured_) return;
  if (!modules_.empty() && chance(modules_.size() > 8 ? 1 : 2)) return unload(below(modules_.size()));
  CUmodule made = nullptr;
  const int on = device();
  if (current() != primary_[on]) return;
  code_[on] += kGranule;  // before the call, after which it is compared
  unmeasured_[on] += kGranule;
  const int result = chance(2)
                         ? any_code("cuModuleLoadData", on, &made, static_cast<const void*>("image"))
                         : any_code("cuModuleLoadFatBinary", on, &made, static_cast<const void*>("image"));
  if (result == 0) modules_.push_back({made, on});
}

void Trace::unload(std::size_t at) {
  const Code module = modules_[at];
  code_[module.device] -= kGranule;
  unmeasured_[module.device] -= kGranule;
  if (any_without_failures("cuModuleUnload", module.handle) != 0) check("cuModuleUnload", false);
  modules_.erase(modules_.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace gpupool::limiter::test
