// SPDX-License-Identifier: Apache-2.0
// Linear memory, arrays, physical memory, and memory of others.
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tests/fake-cuda/types.h"
#include "tests/limiter/cuda/trace.h"

namespace gpupool::limiter::test {

void Trace::linear() {
  CUdeviceptr address = 0;
  int result = 0;
  const std::size_t bytes = chance(2) ? 1 + below(kMib) : 1 + below(48 * kMib);
  std::size_t pitch = 0;
  CUdeviceptr_v1 low = 0;
  unsigned low_pitch = 0;
  switch (below(7)) {
    case 0:
      result = any("cuMemAllocPitch_v2", &address, &pitch, 1 + below(9000), 1 + below(3000), 4U);
      break;
    case 2:
      result = attempt("cuMemAlloc", device(), round(bytes), &low, static_cast<unsigned>(bytes));
      address = low;
      break;
    case 3:
      result = any("cuMemAllocPitch", &low, &low_pitch, static_cast<unsigned>(1 + below(3000)),
                   static_cast<unsigned>(1 + below(1000)), 4U);
      address = low;
      break;
    case 1:
      result = attempt("cuMemAllocManaged", device(), round(bytes), &address, bytes, 1U);
      break;
    default:
      result = attempt("cuMemAlloc_v2", device(), round(bytes), &address, bytes);
  }
  if (result == 0) pointers_.push_back({address, current(), false});
}

void Trace::free_one() {
  // More when much is allocated, so that the limit is met and left.
  for (std::size_t i = pointers_.size() > 60 ? 30 : 1; i > 0 && !pointers_.empty(); --i)
    free_at(below(pointers_.size()));
  if (chance(20)) check("a wrong free", any("cuMemFree_v2", CUdeviceptr{12345}) != 0);
}

void Trace::free_at(std::size_t at) {
  const Pointer pointer = pointers_[at];
  const bool async = pointer.pool && !chance(3);
  const bool low = pointer.address <= 0xFFFFFFFF && chance(2);
  const int result =
      async ? any(chance(2) ? "cuMemFreeAsync" : "cuMemFreeAsync_ptsz", pointer.address, CUstream{})
      : low ? any("cuMemFree", static_cast<CUdeviceptr_v1>(pointer.address))
            : any("cuMemFree_v2", pointer.address);
  if (result == 0) pointers_.erase(pointers_.begin() + static_cast<std::ptrdiff_t>(at));
}

void Trace::array() {
  if (!arrays_.empty() && chance(arrays_.size() > 10 ? 1 : 3)) return destroy_array(below(arrays_.size()));
  void* made = nullptr;
  const ArrayDescriptor flat{1 + below(4096), 1 + below(2048), 0x20, 1};
  const Array3dDescriptor deep{
      1 + below(512), 1 + below(256), below(32), 0x20, 1, chance(3) ? kArrayDeferred : 0};
  const ArrayDescriptorV1 flat_v1{static_cast<unsigned>(flat.width), static_cast<unsigned>(flat.height), 0x20,
                                  1};
  const Array3dDescriptorV1 deep_v1{static_cast<unsigned>(deep.width),
                                    static_cast<unsigned>(deep.height),
                                    static_cast<unsigned>(deep.depth),
                                    0x20,
                                    1,
                                    deep.flags};
  const std::size_t kind = below(5);
  const int result = kind == 0   ? any("cuArrayCreate_v2", &made, &flat)
                     : kind == 3 ? any("cuArrayCreate", &made, &flat_v1)
                     : kind == 4 ? any("cuArray3DCreate", &made, &deep_v1)
                     : kind == 1 ? any("cuArray3DCreate_v2", &made, &deep)
                                 : any("cuMipmappedArrayCreate", &made, &deep, 3U);
  if (result == 0) arrays_.push_back({made, current(), kind == 2});
}

void Trace::destroy_array(std::size_t at) {
  const char* const name = arrays_[at].mipmapped ? "cuMipmappedArrayDestroy" : "cuArrayDestroy";
  if (any(name, arrays_[at].handle) == 0) arrays_.erase(arrays_.begin() + static_cast<std::ptrdiff_t>(at));
}

void Trace::physical() {
  const std::size_t kind = below(handles_.size() + mapped_.size() > 20 ? 2 : 7);
  if (kind == 0 && !handles_.empty()) return release(below(handles_.size()));
  if (kind == 1 && !mapped_.empty()) return unmap(below(mapped_.size()));
  CUmemGenericAllocationHandle handle = 0;
  if (kind == 2 && !mapped_.empty()) {
    const CUdeviceptr inside = mapped_[below(mapped_.size())] + 4096;
    if (any("cuMemRetainAllocationHandle", &handle, reinterpret_cast<void*>(inside)) == 0)
      handles_.push_back(handle);
  } else if (kind == 3 && !handles_.empty()) {
    const CUdeviceptr place = places_ + below(kPlaces) * kPlaceSize;
    const CUmemGenericAllocationHandle which = handles_[below(handles_.size())];
    if (any("cuMemMap", place, std::size_t{kGranule}, std::size_t{0}, which, 0ULL) == 0)
      mapped_.push_back(place);
  } else if (kind == 4) {
    import_one();
  } else if (kind > 4) {
    MemAllocationProp prop{};
    prop.type = 1;
    prop.requested_handle_types = 1;
    prop.location = {chance(5) ? 3 : kLocationDevice, static_cast<int>(below(kDevices))};
    const std::size_t bytes = kGranule * (1 + below(8));
    const std::uint64_t needs = prop.location.type == kLocationDevice ? bytes : 0;
    if (attempt("cuMemCreate", prop.location.id, needs, &handle, bytes, &prop, 0ULL) == 0)
      handles_.push_back(handle);
  }
}

void Trace::import_one() {
  int file = -1;
  if (!handles_.empty() && chance(2)) {
    cu("cuMemExportToShareableHandle", static_cast<void*>(&file), handles_[below(handles_.size())], 1, 0ULL);
  } else {
    const std::string path = "/proc/" + std::to_string(lent_.pid) + "/fd/" +
                             std::to_string(lent_.files[below(lent_.files.size())]);
    file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  }
  if (file < 0) return;
  CUmemGenericAllocationHandle handle = 0;
  void* const as_pointer = reinterpret_cast<void*>(static_cast<std::intptr_t>(file));
  if (any("cuMemImportFromShareableHandle", &handle, as_pointer, 1) == 0) handles_.push_back(handle);
  close(file);
}

void Trace::release(std::size_t at) {
  if (any("cuMemRelease", handles_[at]) == 0)
    handles_.erase(handles_.begin() + static_cast<std::ptrdiff_t>(at));
}

void Trace::unmap(std::size_t at) {
  if (any("cuMemUnmap", mapped_[at], std::size_t{kGranule}) == 0) {
    mapped_.erase(mapped_.begin() + static_cast<std::ptrdiff_t>(at));
  }
}

void Trace::tiles() {
  if (handles_.empty()) return;
  const Array3dDescriptor sparse{1 + below(512), 1 + below(256), 0, 0x20, 1, kArraySparse};
  void* made = nullptr;
  if (any("cuArray3DCreate_v2", &made, &sparse) != 0) return;
  ArrayMapInfo info{};
  info.resource = made;
  info.operation = kMapOperationMap;
  const bool host = chance(2);
  for (unsigned i = 0; i < 2; ++i) {
    info.subresource.sparse_level.layer = i;
    info.handle = handles_[below(handles_.size())];
    any(host ? "cuMemMapArrayAsync" : "cuMemMapArrayAsync_ptsz", &info, 1U, CUstream{});
  }
  if (chance(2)) release(below(handles_.size()));
  while (any("cuArrayDestroy", made) != 0) {
  }
}

void Trace::borrowed() {
  if (!borrowed_.empty() && chance(2)) return give_back(below(borrowed_.size()));
  CUdeviceptr address = 0;
  void* host = nullptr;
  if (chance(3)) {
    if (any("cuMemAllocHost_v2", &host, 1 + below(kMib)) == 0) cu("cuMemFreeHost", host);
  } else if (any("cuIpcOpenMemHandle_v2", &address, lent_.handle, 1U) == 0) {
    borrowed_.push_back({address, current(), false});
  }
}

void Trace::give_back(std::size_t at) {
  if (any("cuIpcCloseMemHandle", borrowed_[at].address) == 0)
    borrowed_.erase(borrowed_.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace gpupool::limiter::test
