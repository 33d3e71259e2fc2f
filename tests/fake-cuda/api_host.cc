// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>

#include "tests/fake-cuda/call.h"

// The driver's functions about memory of the host, and what it knows of pointers.
using namespace gpupool::fake_cuda;

namespace {

constexpr std::uint64_t kHostPage = 4096;

Result allocate_host(const char* name, void** out, std::size_t bytes) {
  return call_in_context(name, [&](Driver& d, Context& context) {
    if (out == nullptr || bytes == 0) return Result::kInvalidValue;
    const std::uint64_t size = round_up(bytes, kHostPage);
    const std::uint64_t address = map_host_memory(size);
    if (address == 0) return Result::kOutOfMemory;
    d.memory().add(address,
                   {.size = bytes, .source = Source::kHost, .device = context.device, .charged = size});
    *out = reinterpret_cast<void*>(address);
    return Result::kSuccess;
  });
}

Result register_host(const char* name, void* pointer, std::size_t bytes) {
  return call_in_context(name, [&](Driver& d, Context& context) {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    if (pointer == nullptr || bytes == 0) return Result::kInvalidValue;
    if (d.memory().overlaps(address, bytes)) return Result::kHostMemoryAlreadyRegistered;
    d.memory().add(address, {.size = bytes, .source = Source::kRegistered, .device = context.device});
    return Result::kSuccess;
  });
}

bool is_host(const Range& range) {
  return range.source == Source::kHost || range.source == Source::kRegistered;
}

enum Attribute {
  kContextOf = 1,
  kMemoryType,
  kDevicePointer,
  kHostPointer,
  kBufferId = 7,
  kIsManaged,
  kOrdinalOf,
  kLegacyIpc,
  kRangeStart,
  kRangeSize,
  kIsMapped,
  kHandleTypes,
  kPoolOf = 17,
};
constexpr unsigned kTypeHost = 1;
constexpr unsigned kTypeDevice = 2;

Result pointer_attribute(Driver& d, void* out, int attribute, Pointer pointer) {
  std::uint64_t begin = 0;
  const Range* const range = d.memory().holding(pointer, &begin);
  if (range == nullptr || out == nullptr) return Result::kInvalidValue;
  const bool host = is_host(*range);
  switch (attribute) {
    case kContextOf:
      return put(static_cast<Context**>(out),
                 range->context != nullptr ? range->context : range->device->primary);
    case kMemoryType:
      return put(static_cast<unsigned*>(out), host ? kTypeHost : kTypeDevice);
    case kDevicePointer:
      return put(static_cast<Pointer*>(out), pointer);
    case kHostPointer:
      if (!host && range->source != Source::kManaged) return Result::kInvalidValue;
      return put(static_cast<Pointer*>(out), pointer);
    case kBufferId:
    case kRangeStart:
      return put(static_cast<std::uint64_t*>(out), begin);
    case kIsManaged:
      return put(static_cast<bool*>(out), range->source == Source::kManaged);
    case kOrdinalOf:
      return put(static_cast<int*>(out), range->device->ordinal);
    case kLegacyIpc:
      return put(static_cast<bool*>(out), range->source == Source::kAllocated);
    case kRangeSize:
      return put(static_cast<std::size_t*>(out), range->size);
    case kIsMapped:
      return put(static_cast<bool*>(out), true);
    case kHandleTypes:
      return put(static_cast<unsigned*>(out), range->physical != nullptr ? 1U : 0U);
    case kPoolOf:
      return put(static_cast<Pool**>(out), range->pool);
    default:
      return Result::kNotSupported;
  }
}

}  // namespace

CUDA_FUNCTION(cuMemAllocHost)(void** out, unsigned int bytes) { return allocate_host(__func__, out, bytes); }
CUDA_FUNCTION(cuMemAllocHost_v2)(void** out, std::size_t bytes) {
  return allocate_host(__func__, out, bytes);
}
CUDA_FUNCTION(cuMemHostAlloc)(void** out, std::size_t bytes, unsigned int) {
  return allocate_host(__func__, out, bytes);
}
CUDA_FUNCTION(cuMemFreeHost)(void* pointer) {
  return call_in_context(__func__, [&](Driver& d, Context&) {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const Range* const range = d.memory().at(address);
    if (range == nullptr || range->source != Source::kHost) return Result::kInvalidValue;
    munmap(pointer, range->charged);
    d.memory().remove(address);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuMemHostRegister)(void* pointer, std::size_t bytes, unsigned int) {
  return register_host(__func__, pointer, bytes);
}
CUDA_FUNCTION(cuMemHostRegister_v2)(void* pointer, std::size_t bytes, unsigned int) {
  return register_host(__func__, pointer, bytes);
}
CUDA_FUNCTION(cuMemHostUnregister)(void* pointer) {
  return call_in_context(__func__, [&](Driver& d, Context&) {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    const Range* const range = d.memory().at(address);
    if (range == nullptr || range->source != Source::kRegistered) return Result::kHostMemoryNotRegistered;
    d.memory().remove(address);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuMemHostGetDevicePointer_v2)(Pointer* out, void* pointer, unsigned int flags) {
  return call_in_context(__func__, [&](Driver& d, Context&) {
    const Range* const range = d.memory().holding(reinterpret_cast<std::uint64_t>(pointer));
    if (range == nullptr || !is_host(*range) || flags != 0) return Result::kInvalidValue;
    return put(out, reinterpret_cast<std::uint64_t>(pointer));
  });
}
CUDA_FUNCTION(cuMemHostGetFlags)(unsigned int* out, void* pointer) {
  return call_in_context(__func__, [&](Driver& d, Context&) {
    const Range* const range = d.memory().holding(reinterpret_cast<std::uint64_t>(pointer));
    return range != nullptr && is_host(*range) ? put(out, 0U) : Result::kInvalidValue;
  });
}

CUDA_FUNCTION(cuPointerGetAttribute)(void* out, int attribute, Pointer pointer) {
  return call(__func__, [&](Driver& d) { return pointer_attribute(d, out, attribute, pointer); });
}
CUDA_FUNCTION(cuPointerGetAttributes)(unsigned int count, const int* attributes, void** out,
                                      Pointer pointer) {
  return call(__func__, [&](Driver& d) {
    if (attributes == nullptr || out == nullptr) return Result::kInvalidValue;
    // Of a pointer that the driver does not know, everything is zero: callers set that before.
    for (unsigned int i = 0; i < count; ++i) pointer_attribute(d, out[i], attributes[i], pointer);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuMemAdvise)(Pointer address, std::size_t, int, int) {
  return call(__func__, [&](Driver& d) {
    const Range* const range = d.memory().holding(address);
    return range != nullptr && range->source == Source::kManaged ? Result::kSuccess : Result::kInvalidValue;
  });
}
CUDA_FUNCTION(cuMemPrefetchAsync)(Pointer address, std::size_t, Ordinal, Stream*) {
  return call_in_context(__func__, [&](Driver& d, Context&) {
    const Range* const range = d.memory().holding(address);
    return range != nullptr && range->source == Source::kManaged ? Result::kSuccess : Result::kInvalidValue;
  });
}
