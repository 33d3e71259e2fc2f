// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/allocations.h"
#include "tests/fake-cuda/call.h"
#include "tests/fake-cuda/graphs.h"
#include "tests/fake-cuda/pools.h"
#include "tests/fake-cuda/streams.h"

// The driver's functions about memory in the order of streams.
using namespace gpupool::fake_cuda;

namespace {

enum PoolAttribute {
  kReuseFirst = 1,
  kReuseLast = 3,
  kThreshold,
  kReserved,
  kReservedHigh,
  kUsed,
  kUsedHigh
};

// `body(driver, pool)` for a pool that is one.
template <class Body>
Result call_for_pool(const char* name, Pool* pool, Body body) {
  return call(name, [&](Driver& d) {
    return d.objects().pools.contains(pool) ? body(d, *pool) : Result::kInvalidValue;
  });
}

// A null pool is the device's current one.
Result allocate_async(const char* name, Pointer* out, std::size_t bytes, Pool* pool, Stream* handle) {
  return call_in_context(name, [&](Driver& d, Context& context) {
    if (pool != nullptr && !d.objects().pools.contains(pool)) return Result::kInvalidValue;
    Stream* const stream = stream_of(d, context, handle);
    if (stream == nullptr) return Result::kInvalidHandle;
    Device& device = *stream->context->device;
    if (stream->capture != nullptr) return add_allocation(d, *stream->capture, device, bytes, out);
    return allocate_from_pool(d, pool != nullptr ? *pool : *current_pool(d, device), bytes, out);
  });
}

Result get_attribute(const Pool& pool, int attribute, void* value) {
  if (value == nullptr) return Result::kInvalidValue;
  if (attribute >= kReuseFirst && attribute <= kReuseLast) {
    *static_cast<int*>(value) = pool.reuse[attribute - kReuseFirst];
    return Result::kSuccess;
  }
  auto* const bytes = static_cast<std::uint64_t*>(value);
  switch (attribute) {
    case kThreshold:
      *bytes = pool.threshold;
      return Result::kSuccess;
    case kReserved:
      *bytes = pool.reserved;
      return Result::kSuccess;
    case kReservedHigh:
      *bytes = pool.reserved_high;
      return Result::kSuccess;
    case kUsed:
      *bytes = pool.used;
      return Result::kSuccess;
    case kUsedHigh:
      *bytes = pool.used_high;
      return Result::kSuccess;
    default:
      return Result::kInvalidValue;
  }
}

Result set_attribute(Pool& pool, int attribute, const void* value) {
  if (value == nullptr) return Result::kInvalidValue;
  if (attribute >= kReuseFirst && attribute <= kReuseLast) {
    pool.reuse[attribute - kReuseFirst] = *static_cast<const int*>(value);
    return Result::kSuccess;
  }
  const std::uint64_t bytes = *static_cast<const std::uint64_t*>(value);
  if (attribute == kThreshold) {
    pool.threshold = bytes;
    return Result::kSuccess;
  }
  // High-water marks can be set to zero alone, and are then what is there.
  if ((attribute != kReservedHigh && attribute != kUsedHigh) || bytes != 0) return Result::kInvalidValue;
  (attribute == kUsedHigh ? pool.used_high : pool.reserved_high) =
      attribute == kUsedHigh ? pool.used : pool.reserved;
  return Result::kSuccess;
}

}  // namespace

CUDA_FUNCTION(cuMemAllocAsync)(Pointer* out, std::size_t bytes, Stream* stream) {
  return allocate_async(__func__, out, bytes, nullptr, stream);
}
CUDA_FUNCTION(cuMemAllocFromPoolAsync)(Pointer* out, std::size_t bytes, Pool* pool, Stream* stream) {
  return pool != nullptr ? allocate_async(__func__, out, bytes, pool, stream) : Result::kInvalidValue;
}
CUDA_FUNCTION(cuMemFreeAsync)(Pointer address, Stream* handle) {
  return call_in_context(__func__, [&](Driver& d, Context& context) {
    const Stream* const stream = stream_of(d, context, handle);
    if (stream == nullptr) return Result::kInvalidHandle;
    if (stream->capture != nullptr) return add_free(d, *stream->capture, address);
    const Range* const range = d.memory().at(address);
    if (range == nullptr) return Result::kInvalidValue;
    if (range->source != Source::kPool && range->source != Source::kGraph &&
        range->source != Source::kAllocated) {
      return Result::kInvalidValue;
    }
    return range->source == Source::kPool ? free_to_pool(d, address, true) : free_memory(d, address);
  });
}

CUDA_FUNCTION(cuMemPoolCreate)(Pool** out, const PoolProperties* properties) {
  return call(__func__, [&](Driver& d) {
    if (out == nullptr || properties == nullptr || properties->type != 1) return Result::kInvalidValue;
    if (properties->location.type != kLocationDevice) return Result::kNotSupported;
    Device* const device = d.device(properties->location.id);
    if (device == nullptr) return Result::kInvalidDevice;
    *out = make_pool(d, *device);
    (*out)->handle_types = properties->handle_types;
    (*out)->largest = properties->max_size;
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuMemPoolDestroy)(Pool* pool) {
  return call_for_pool(__func__, pool, [](Driver& d, Pool& known) {
    if (known.device->default_pool == &known) return Result::kInvalidValue;
    destroy_pool(d, known);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuMemPoolTrimTo)(Pool* pool, std::size_t keep) {
  return call_for_pool(__func__, pool, [&](Driver& d, Pool& known) {
    trim_pool(d, known, keep);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuMemPoolGetAttribute)(Pool* pool, int attribute, void* value) {
  return call_for_pool(__func__, pool,
                       [&](Driver&, Pool& known) { return get_attribute(known, attribute, value); });
}
CUDA_FUNCTION(cuMemPoolSetAttribute)(Pool* pool, int attribute, void* value) {
  return call_for_pool(__func__, pool,
                       [&](Driver&, Pool& known) { return set_attribute(known, attribute, value); });
}
CUDA_FUNCTION(cuMemPoolSetAccess)(Pool* pool, const AccessDescription*, std::size_t) {
  return call_for_pool(__func__, pool, [](Driver&, Pool&) { return Result::kSuccess; });
}
CUDA_FUNCTION(cuMemPoolGetAccess)(int* flags, Pool* pool, Location*) {
  return call_for_pool(__func__, pool, [&](Driver&, Pool&) { return put(flags, 3); });
}

CUDA_FUNCTION(cuDeviceGetDefaultMemPool)(Pool** out, Ordinal ordinal) {
  return call_for_device(__func__, ordinal,
                         [&](Driver& d, Device& device) { return put(out, default_pool(d, device)); });
}
CUDA_FUNCTION(cuDeviceGetMemPool)(Pool** out, Ordinal ordinal) {
  return call_for_device(__func__, ordinal,
                         [&](Driver& d, Device& device) { return put(out, current_pool(d, device)); });
}
CUDA_FUNCTION(cuDeviceSetMemPool)(Ordinal ordinal, Pool* pool) {
  return call_for_device(__func__, ordinal, [&](Driver& d, Device& device) {
    if (!d.objects().pools.contains(pool) || pool->device != &device) return Result::kInvalidValue;
    device.current_pool = pool;
    return Result::kSuccess;
  });
}

// The same of CUDA 13, for any location; only devices have pools here.
CUDA_FUNCTION(cuMemGetDefaultMemPool)(Pool** out, Location* location, int) {
  if (location == nullptr || location->type != kLocationDevice) return Result::kInvalidValue;
  return call_for_device(__func__, location->id,
                         [&](Driver& d, Device& device) { return put(out, default_pool(d, device)); });
}
CUDA_FUNCTION(cuMemGetMemPool)(Pool** out, Location* location, int) {
  if (location == nullptr || location->type != kLocationDevice) return Result::kInvalidValue;
  return call_for_device(__func__, location->id,
                         [&](Driver& d, Device& device) { return put(out, current_pool(d, device)); });
}
