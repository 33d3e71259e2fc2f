// SPDX-License-Identifier: Apache-2.0
// Linear, managed, and physical memory, and arrays.
#include "tests/limiter/cuda/standin.h"

namespace gpupool::standin {

void free_range(World& w, std::map<std::uint64_t, Range>::iterator at) {
  const Range range = at->second;
  if (range.pool != nullptr) {
    Pool& pool = *range.pool;
    pool.used -= range.bytes;
    if (pool.destroyed && pool.used == 0) {
      give_bytes(pool.device, pool.reserved);
      w.pools.erase(&pool);
      delete &pool;
    }
  } else if (range.block != 0) {
    auto& taken = w.blocks[range.block];
    taken.erase(at->first - range.block);
    if (taken.empty()) {
      w.blocks.erase(range.block);
      give_bytes(range.device, kGranule);
    }
  } else {
    give_bytes(range.device, range.charged);
  }
  w.ranges.erase(at);
}

namespace {

std::uint64_t new_address(World& w, std::uint64_t bytes) {
  const std::uint64_t address = w.next_address;
  w.next_address += round_to(bytes, kGranule) + kGranule;
  return address;
}

// In the first block of the context's device that has room behind its last allocation.
CUresult allocate_small(World& w, Context* context, std::uint64_t bytes, CUdeviceptr* out) {
  const std::uint64_t size = round_to(bytes, 512);
  std::uint64_t block = 0;
  std::uint64_t offset = 0;
  for (auto& [address, taken] : w.blocks) {
    const auto last = std::prev(taken.end());
    const Range& range = w.ranges.at(address + last->first);
    if (range.context == context && last->first + last->second + size <= kGranule) {
      block = address;
      offset = last->first + last->second;
    }
  }
  if (block == 0) {
    if (!take_bytes(context->device, kGranule)) return kOutOfMemory;
    block = new_address(w, kGranule);
  }
  w.blocks[block][offset] = size;
  w.ranges[block + offset] = {context->device, context, 0, block, nullptr, bytes};
  *out = block + offset;
  return kSuccess;
}

CUresult allocate(World& w, std::uint64_t bytes, CUdeviceptr* out) {
  Context* const context = current();
  if (context == nullptr) return kNoContext;
  if (bytes == 0) return kInvalidValue;
  if (bytes <= kMib) return allocate_small(w, context, bytes, out);
  const std::uint64_t size = round_to(bytes, kGranule);
  if (!take_bytes(context->device, size)) return kOutOfMemory;
  *out = new_address(w, size);
  w.ranges[*out] = {context->device, context, size, 0, nullptr, bytes};
  return kSuccess;
}

void drop(Piece* piece) {
  if (--piece->holds == 0) {
    give_bytes(piece->device, piece->bytes);
    delete piece;
  }
}

std::uint64_t array_size(const Array3dDescriptor& d, unsigned levels) {
  std::uint64_t bytes = 0;
  std::uint64_t width = d.width;
  for (unsigned i = 0; i < levels; ++i, width = width > 1 ? width / 2 : 1) {
    bytes += round_to(width * 4, 512) * (d.height == 0 ? 1 : d.height) * (d.depth == 0 ? 1 : d.depth);
  }
  return round_to(bytes, kGranule);
}

CUresult make_array(World& w, void** out, const Array3dDescriptor& d, unsigned levels) {
  if (current() == nullptr) return kNoContext;
  const std::uint64_t size = array_size(d, levels);
  const bool later = (d.flags & (kArrayDeferred | kArraySparse)) != 0;
  if (!later && !take_bytes(current()->device, size)) return kOutOfMemory;
  *out = new char;
  w.arrays[*out] = {later ? -1 : current()->device, size, current()};
  return kSuccess;
}

CUresult destroy_array(World& w, void* array) {
  const auto at = w.arrays.find(array);
  if (at == w.arrays.end()) return kBadHandle;
  give_bytes(at->second.device, at->second.bytes);
  w.arrays.erase(at);
  delete static_cast<char*>(array);
  return kSuccess;
}

}  // namespace

}  // namespace gpupool::standin

using namespace gpupool::standin;

STANDIN cuMemAlloc_v2(CUdeviceptr* out, std::size_t bytes) {
  return call(__func__, [=](World& w) { return allocate(w, bytes, out); });
}
STANDIN cuMemAllocPitch_v2(CUdeviceptr* out, std::size_t* pitch, std::size_t width, std::size_t height,
                           unsigned) {
  return call(__func__, [=](World& w) {
    *pitch = round_to(width, 1024);  // more than the limiter guesses
    return allocate(w, *pitch * height, out);
  });
}
STANDIN cuMemAllocManaged(CUdeviceptr* out, std::size_t bytes, unsigned) {
  return call(__func__, [=](World& w) { return allocate(w, bytes <= kMib ? kGranule : bytes, out); });
}
STANDIN cuMemFree_v2(CUdeviceptr pointer) {
  return call(__func__, [=](World& w) {
    const auto at = w.ranges.find(pointer);
    if (at == w.ranges.end()) return kInvalidValue;
    free_range(w, at);
    return kSuccess;
  });
}
STANDIN cuIpcOpenMemHandle_v2(CUdeviceptr* out, const void*, unsigned) {
  return call(__func__, [=](World& w) { return *out = new_address(w, kGranule), kSuccess; });
}
STANDIN cuIpcCloseMemHandle(CUdeviceptr) { return 0; }

STANDIN cuMemCreate(CUmemGenericAllocationHandle* out, std::size_t size, const MemAllocationProp* prop,
                    unsigned long long) {
  return call(__func__, [=](World& w) {
    const int device = prop->location.type == kLocationDevice ? prop->location.id : -1;
    if (size % kGranule != 0) return kInvalidValue;
    if (!take_bytes(device, size)) return kOutOfMemory;
    *out = w.next_handle++;
    w.handles[*out] = {new Piece{device, size, 1}, 1};
    return kSuccess;
  });
}
STANDIN cuMemRelease(CUmemGenericAllocationHandle handle) {
  return call(__func__, [=](World& w) {
    const auto at = w.handles.find(handle);
    if (at == w.handles.end()) return kInvalidValue;
    Piece* const piece = at->second.first;
    if (--at->second.second == 0) w.handles.erase(at);
    drop(piece);
    return kSuccess;
  });
}
STANDIN cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* out, void* address) {
  return call(__func__, [=](World& w) {
    auto at = w.mappings.upper_bound(reinterpret_cast<std::uint64_t>(address));
    if (at == w.mappings.begin()) return kInvalidValue;
    --at;
    if (reinterpret_cast<std::uint64_t>(address) >= at->first + at->second.second) return kInvalidValue;
    Piece* const piece = at->second.first;
    ++piece->holds;
    for (auto& [handle, entry] : w.handles) {
      if (entry.first == piece) return ++entry.second, *out = handle, kSuccess;
    }
    *out = w.next_handle++;
    w.handles[*out] = {piece, 1};
    return kSuccess;
  });
}
STANDIN cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* out, void*, Enum) {
  return call(__func__, [=](World& w) {
    *out = w.next_handle++;
    w.handles[*out] = {new Piece{-1, kGranule, 1}, 1};
    return kSuccess;
  });
}
STANDIN cuMemMap(CUdeviceptr pointer, std::size_t size, std::size_t, CUmemGenericAllocationHandle handle,
                 unsigned long long) {
  return call(__func__, [=](World& w) {
    const auto at = w.handles.find(handle);
    if (at == w.handles.end() || w.mappings.contains(pointer)) return kInvalidValue;
    ++at->second.first->holds;
    w.mappings[pointer] = {at->second.first, size};
    return kSuccess;
  });
}
STANDIN cuMemUnmap(CUdeviceptr pointer, std::size_t size) {
  return call(__func__, [=](World& w) {
    for (auto at = w.mappings.lower_bound(pointer); at != w.mappings.end() && at->first < pointer + size;) {
      drop(at->second.first);
      at = w.mappings.erase(at);
    }
    return kSuccess;
  });
}

STANDIN cuArrayCreate_v2(void** out, const ArrayDescriptor* d) {
  return call(__func__,
              [=](World& w) { return make_array(w, out, {d->width, d->height, 0, d->format, 0, 0}, 1); });
}
STANDIN cuArray3DCreate_v2(void** out, const Array3dDescriptor* d) {
  return call(__func__, [=](World& w) { return make_array(w, out, *d, 1); });
}
STANDIN cuMipmappedArrayCreate(void** out, const Array3dDescriptor* d, unsigned levels) {
  return call(__func__, [=](World& w) { return make_array(w, out, *d, levels); });
}
STANDIN cuArrayDestroy(void* array) {
  return call(__func__, [=](World& w) { return destroy_array(w, array); });
}
STANDIN cuMipmappedArrayDestroy(void* array) {
  return call(__func__, [=](World& w) { return destroy_array(w, array); });
}
STANDIN cuArrayGetMemoryRequirements(ArrayMemoryRequirements* needs, void* array, int) {
  return call(__func__, [=](World& w) { return needs->size = w.arrays.at(array).bytes, kSuccess; });
}
STANDIN cuMipmappedArrayGetMemoryRequirements(ArrayMemoryRequirements* needs, void* array, int) {
  return call(__func__, [=](World& w) { return needs->size = w.arrays.at(array).bytes, kSuccess; });
}
