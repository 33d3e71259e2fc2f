// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/arrays.h"

#include <algorithm>

#include "tests/fake-cuda/physical.h"

namespace gpupool::fake_cuda {

namespace {

constexpr std::uint64_t kArrayAlignment = 64ULL << 10U;
constexpr std::uint64_t kBlockWidth = 64;  // bytes
constexpr std::uint64_t kBlockHeight = 8;

constexpr int kMapTile = 1;

void unmap_tile(Driver& driver, Physical& memory) {
  --memory.mappings;
  give_back_unused(driver, memory);
}

// Bytes of one element's channel; 0: no format that is known here.
unsigned format_bytes(unsigned int format) {
  switch (format) {
    case 0x01:
    case 0x08:
      return 1;
    case 0x02:
    case 0x09:
    case 0x10:
      return 2;
    case 0x03:
    case 0x0a:
    case 0x20:
      return 4;
    default:
      return 0;
  }
}

// The real layout is not documented: blocks of 64 bytes by 8 rows, a whole number of 64 KiB in all.
std::uint64_t array_bytes(const Array3DDescriptor& descriptor, unsigned levels) {
  std::uint64_t total = 0;
  const bool layered = (descriptor.flags & (kArrayLayered | kArrayCubemap)) != 0;
  for (unsigned level = 0; level < levels; ++level) {
    const std::uint64_t width = std::max<std::uint64_t>(descriptor.width >> level, 1);
    const std::uint64_t height = std::max<std::uint64_t>(descriptor.height >> level, 1);
    const std::uint64_t depth =
        std::max<std::uint64_t>(layered ? descriptor.depth : descriptor.depth >> level, 1);
    const std::uint64_t row =
        round_up(width * format_bytes(descriptor.format) * descriptor.channels, kBlockWidth);
    total += row * round_up(height, descriptor.height > 1 ? kBlockHeight : 1) * depth;
  }
  return round_up(total, kArrayAlignment);
}

}  // namespace

Result create_array(Driver& driver, Context& context, const Array3DDescriptor& descriptor, unsigned levels,
                    Array** out) {
  const bool channels = descriptor.channels == 1 || descriptor.channels == 2 || descriptor.channels == 4;
  constexpr std::uint64_t kMost = 1ULL << 17U;
  if (out == nullptr || descriptor.width == 0 || !channels || format_bytes(descriptor.format) == 0 ||
      levels == 0) {
    return Result::kInvalidValue;
  }
  if (descriptor.width > kMost || descriptor.height > kMost || descriptor.depth > kMost)
    return Result::kInvalidValue;
  auto made = std::make_unique<Array>();
  made->context = &context;
  made->descriptor = descriptor;
  made->levels = levels;
  made->size = array_bytes(descriptor, levels);
  if ((descriptor.flags & (kArraySparse | kArrayDeferred)) == 0) {
    made->charged = round_up(made->size, kGranule);
    if (!driver.charge(*context.device, Kind::kMemory, made->charged)) return Result::kOutOfMemory;
  }
  *out = made.release();
  driver.objects().arrays.insert(*out);
  return Result::kSuccess;
}

Result destroy_array(Driver& driver, Array* array) {
  if (driver.objects().arrays.erase(array) == 0) return Result::kInvalidHandle;
  for (const auto& [tile, memory] : array->tiles) unmap_tile(driver, *memory);
  if (array->charged > 0) driver.discharge(*array->context->device, Kind::kMemory, array->charged);
  delete array;
  return Result::kSuccess;
}

Result map_tile(Driver& driver, const ArrayMapInfo& info) {
  if (!driver.objects().arrays.contains(info.resource)) return Result::kInvalidHandle;
  Array& array = *info.resource;
  if ((array.descriptor.flags & (kArraySparse | kArrayDeferred)) == 0) return Result::kInvalidValue;
  // The level and layer, and the offsets: two 32-bit numbers in a word.
  const Tile tile{static_cast<std::uint64_t>(info.subresource_type), info.subresource[0], info.subresource[1],
                  info.subresource_type == 0 ? info.subresource[2] & 0xFFFFFFFFU : 0};
  std::shared_ptr<Physical> fresh;
  if (info.operation == kMapTile) {
    const auto known = driver.objects().physical.find(info.handle);
    if (known == driver.objects().physical.end()) return Result::kInvalidHandle;
    fresh = known->second;
    ++fresh->mappings;
  }
  if (const auto before = array.tiles.find(tile); before != array.tiles.end()) {
    unmap_tile(driver, *before->second);
    array.tiles.erase(before);
  }
  if (fresh != nullptr) array.tiles[tile] = fresh;
  return Result::kSuccess;
}

void free_arrays_of(Driver& driver, const Context& context) {
  const std::set<Array*> all = driver.objects().arrays;
  for (Array* const array : all) {
    if (array->context == &context) destroy_array(driver, array);
  }
}

}  // namespace gpupool::fake_cuda
