// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/allocations.h"
#include "tests/fake-cuda/call.h"

// The driver's functions that allocate and describe linear memory.
using namespace gpupool::fake_cuda;

namespace {

constexpr std::size_t kPitchAlignment = 512;

Result allocate_pitched(Driver& d, Context& context, Pointer* out, std::size_t* pitch, std::size_t width,
                        std::size_t height, unsigned int element) {
  const bool known = element == 4 || element == 8 || element == 16;
  if (out == nullptr || pitch == nullptr || width == 0 || height == 0 || !known) return Result::kInvalidValue;
  *pitch = round_up(width, kPitchAlignment);
  return allocate(d, context, *pitch * height, out);
}

Result memory_info(Driver& d, Context& context, std::size_t* free, std::size_t* total) {
  if (free == nullptr || total == nullptr) return Result::kInvalidValue;
  *total = context.device->memory;
  *free = d.free_bytes(*context.device);
  return Result::kSuccess;
}

}  // namespace

CUDA_FUNCTION(cuMemAlloc_v2)(Pointer* out, std::size_t bytes) {
  return call_in_context(__func__, [&](Driver& d, Context& context) {
    return out != nullptr ? allocate(d, context, bytes, out) : Result::kInvalidValue;
  });
}

CUDA_FUNCTION(cuMemAlloc)(PointerV1* out, unsigned int bytes) {
  return call_in_context(__func__, [&](Driver& d, Context& context) {
    Pointer made = 0;
    if (out == nullptr) return Result::kInvalidValue;
    const Result code = allocate(d, context, bytes, &made, true);
    if (code == Result::kSuccess) *out = static_cast<PointerV1>(made);
    return code;
  });
}

CUDA_FUNCTION(cuMemAllocPitch_v2)
(Pointer* out, std::size_t* pitch, std::size_t width, std::size_t height, unsigned int element) {
  return call_in_context(__func__, [&](Driver& d, Context& context) {
    return allocate_pitched(d, context, out, pitch, width, height, element);
  });
}

CUDA_FUNCTION(cuMemAllocPitch)
(PointerV1* out, unsigned int* pitch, unsigned int width, unsigned int height, unsigned int element) {
  return call_in_context(__func__, [&](Driver& d, Context& context) {
    if (out == nullptr || pitch == nullptr || width == 0 || height == 0) return Result::kInvalidValue;
    if (element != 4 && element != 8 && element != 16) return Result::kInvalidValue;
    const std::uint64_t row = round_up(width, kPitchAlignment);
    Pointer made = 0;
    const Result code = allocate(d, context, row * height, &made, true);
    if (code != Result::kSuccess) return code;
    *pitch = static_cast<unsigned int>(row);
    return put(out, made);
  });
}

CUDA_FUNCTION(cuMemAllocManaged)(Pointer* out, std::size_t bytes, unsigned int flags) {
  return call_in_context(__func__, [&](Driver& d, Context& context) {
    if (out == nullptr || (flags != 1 && flags != 2)) return Result::kInvalidValue;
    return allocate_managed(d, context, bytes, out);
  });
}

CUDA_FUNCTION(cuMemFree_v2)(Pointer address) {
  return call_in_context(__func__, [&](Driver& d, Context&) { return free_memory(d, address); });
}

CUDA_FUNCTION(cuMemFree)(PointerV1 address) {
  return call_in_context(__func__, [&](Driver& d, Context&) { return free_memory(d, address); });
}

CUDA_FUNCTION(cuMemGetInfo_v2)(std::size_t* free, std::size_t* total) {
  return call_in_context(__func__,
                         [&](Driver& d, Context& context) { return memory_info(d, context, free, total); });
}

CUDA_FUNCTION(cuMemGetInfo)(unsigned int* free, unsigned int* total) {
  return call_in_context(__func__, [&](Driver& d, Context& context) {
    std::size_t wide_free = 0;
    std::size_t wide_total = 0;
    if (free == nullptr || total == nullptr) return Result::kInvalidValue;
    const Result code = memory_info(d, context, &wide_free, &wide_total);
    *free = static_cast<unsigned int>(wide_free < 0xFFFFFFFFU ? wide_free : 0xFFFFFFFFU);
    *total = static_cast<unsigned int>(wide_total < 0xFFFFFFFFU ? wide_total : 0xFFFFFFFFU);
    return code;
  });
}

CUDA_FUNCTION(cuMemGetAddressRange_v2)(Pointer* base, std::size_t* size, Pointer address) {
  return call(__func__, [&](Driver& d) {
    std::uint64_t begin = 0;
    const Range* const range = d.memory().holding(address, &begin);
    if (range == nullptr) return Result::kNotFound;
    if (base != nullptr) *base = begin;
    if (size != nullptr) *size = range->size;
    return Result::kSuccess;
  });
}
