// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/call.h"
#include "tests/fake-cuda/physical.h"

// The driver's functions that manage addresses and memory apart.
using namespace gpupool::fake_cuda;

namespace {

constexpr int kFileDescriptor = 1;  // CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

template <class Body>
Result call_for_handle(const char* name, std::uint64_t handle, Body body) {
  return call(name, [&](Driver& d) {
    const auto known = d.objects().physical.find(handle);
    return known != d.objects().physical.end() ? body(d, known->second) : Result::kInvalidValue;
  });
}

Result reserve(Driver& d, Pointer* out, std::size_t size, std::size_t alignment, Pointer wanted) {
  const bool power = (alignment & (alignment - 1)) == 0;
  if (out == nullptr || size == 0 || size % kGranule != 0 || !power) return Result::kInvalidValue;
  (void)wanted;  // a hint
  const std::uint64_t made = reserve_addresses(size, alignment > kGranule ? alignment : kGranule);
  if (made == 0) return Result::kOutOfMemory;
  d.memory().reserved()[made] = size;
  *out = made;
  return Result::kSuccess;
}

Result set_access(Driver& d, Pointer address, std::size_t size, const AccessDescription* descriptions,
                  std::size_t count) {
  if (descriptions == nullptr || count == 0 || size == 0) return Result::kInvalidValue;
  const std::uint64_t end = address + size;
  for (std::uint64_t at = address; at < end;) {
    const Range* const range = d.memory().at(at);
    if (range == nullptr || range->source != Source::kMapped || range->size > end - at)
      return Result::kInvalidValue;
    at += range->size;
  }
  for (std::uint64_t at = address; at < end;) {
    Range& range = *d.memory().at(at);
    for (std::size_t i = 0; i < count; ++i) range.accessible = descriptions[i].flags != 0;
    at += range.size;
  }
  return Result::kSuccess;
}

}  // namespace

CUDA_FUNCTION(cuMemGetAllocationGranularity)(std::size_t* out, const AllocationProperties* properties, int) {
  return call(__func__,
              [&](Driver&) { return properties != nullptr ? put(out, kGranule) : Result::kInvalidValue; });
}
CUDA_FUNCTION(cuMemCreate)
(std::uint64_t* out, std::size_t size, const AllocationProperties* properties, unsigned long long flags) {
  return call(__func__, [&](Driver& d) {
    if (out == nullptr || properties == nullptr || flags != 0) return Result::kInvalidValue;
    return create_physical(d, size, *properties, out);
  });
}
CUDA_FUNCTION(cuMemRelease)(std::uint64_t handle) {
  return call_for_handle(__func__, handle, [&](Driver& d, const std::shared_ptr<Physical>& memory) {
    const std::shared_ptr<Physical> kept = memory;
    if (--kept->handles == 0) d.objects().physical.erase(handle);
    give_back_unused(d, *kept);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuMemRetainAllocationHandle)(std::uint64_t* out, void* address) {
  return call(__func__, [&](Driver& d) {
    const Range* const range = d.memory().holding(reinterpret_cast<std::uint64_t>(address));
    if (out == nullptr || range == nullptr || range->physical == nullptr) return Result::kInvalidValue;
    *out = add_handle(d, range->physical);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuMemGetAllocationPropertiesFromHandle)(AllocationProperties* out, std::uint64_t handle) {
  return call_for_handle(__func__, handle, [&](Driver&, const std::shared_ptr<Physical>& memory) {
    return put(out, memory->properties);
  });
}
CUDA_FUNCTION(cuMemExportToShareableHandle)(void* out, std::uint64_t handle, int type, unsigned long long) {
  return call_for_handle(__func__, handle, [&](Driver& d, const std::shared_ptr<Physical>& memory) {
    const bool allowed = (memory->properties.requested_handle_types & kFileDescriptor) != 0;
    if (out == nullptr || type != kFileDescriptor || !allowed) return Result::kInvalidValue;
    const int file = export_physical(d, *memory);
    return file >= 0 ? put(static_cast<int*>(out), file) : Result::kOperatingSystem;
  });
}
CUDA_FUNCTION(cuMemImportFromShareableHandle)(std::uint64_t* out, void* os_handle, int type) {
  return call(__func__, [&](Driver& d) {
    if (out == nullptr || type != kFileDescriptor) return Result::kInvalidValue;
    return import_physical(d, static_cast<int>(reinterpret_cast<std::intptr_t>(os_handle)), out);
  });
}

CUDA_FUNCTION(cuMemAddressReserve)
(Pointer* out, std::size_t size, std::size_t alignment, Pointer wanted, unsigned long long) {
  return call(__func__, [&](Driver& d) { return reserve(d, out, size, alignment, wanted); });
}
CUDA_FUNCTION(cuMemAddressFree)(Pointer address, std::size_t size) {
  return call(__func__, [&](Driver& d) {
    auto& reserved = d.memory().reserved();
    const auto known = reserved.find(address);
    if (known == reserved.end() || known->second != size) return Result::kInvalidValue;
    if (d.memory().overlaps(address, size)) return Result::kInvalidValue;
    reserved.erase(known);
    release_addresses(address, size);
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuMemMap)
(Pointer address, std::size_t size, std::size_t offset, std::uint64_t handle, unsigned long long flags) {
  return call_for_handle(__func__, handle, [&](Driver& d, const std::shared_ptr<Physical>& memory) {
    if (flags != 0 || size == 0 || size % kGranule != 0 || address % kGranule != 0 ||
        offset % kGranule != 0) {
      return Result::kInvalidValue;
    }
    if (offset > memory->size || size > memory->size - offset) return Result::kInvalidValue;
    if (!d.memory().is_reserved(address, size) || d.memory().overlaps(address, size))
      return Result::kInvalidValue;
    d.memory().add(address, {.size = size,
                             .source = Source::kMapped,
                             .device = memory->device,
                             .backing = memory->backing,
                             .offset = offset,
                             .accessible = false,
                             .physical = memory});
    ++memory->mappings;
    return Result::kSuccess;
  });
}
CUDA_FUNCTION(cuMemUnmap)(Pointer address, std::size_t size) {
  return call(__func__, [&](Driver& d) { return unmap_physical(d, address, size); });
}
CUDA_FUNCTION(cuMemSetAccess)
(Pointer address, std::size_t size, const AccessDescription* descriptions, std::size_t count) {
  return call(__func__, [&](Driver& d) { return set_access(d, address, size, descriptions, count); });
}
CUDA_FUNCTION(cuMemGetAccess)(unsigned long long* flags, const Location* location, Pointer address) {
  return call(__func__, [&](Driver& d) {
    const Range* const range = d.memory().holding(address);
    if (location == nullptr || range == nullptr || range->source != Source::kMapped)
      return Result::kInvalidValue;
    return put(flags, range->accessible ? 3U : 0U);
  });
}
