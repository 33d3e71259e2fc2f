// SPDX-License-Identifier: Apache-2.0
#include "limiter/cuda/array_size.h"

#include <algorithm>

#include "limiter/cuda/allocations.h"
#include "limiter/cuda/driver_calls.h"

namespace gpupool::limiter {

namespace {

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? ~0ULL : product;
}

// Of one channel. Formats that are not simple (compressed, video) count as the widest.
std::uint64_t bytes_of_format(Enum format) {
  switch (format) {
    case 0x01:  // 8 bits, unsigned and signed
    case 0x08:
      return 1;
    case 0x02:  // 16 bits, and half floats
    case 0x09:
    case 0x10:
      return 2;
    default:
      return 4;
  }
}

// Arrays lie in tiles; these are no smaller.
constexpr std::uint64_t kRow = 512;
constexpr std::uint64_t kRows = 16;
constexpr std::uint64_t kMostBytes = 1ULL << 50U;

std::uint64_t computed(const Array3dDescriptor& descriptor, unsigned levels) {
  std::uint64_t bytes = 0;
  std::uint64_t width = descriptor.width;
  std::uint64_t height = std::max<std::uint64_t>(descriptor.height, 1);
  std::uint64_t depth = std::max<std::uint64_t>(descriptor.depth, 1);
  const bool layered = (descriptor.flags & (kArrayLayered | kArrayCubemap)) != 0;
  const std::uint64_t element =
      times(bytes_of_format(descriptor.format), std::max(descriptor.num_channels, 1U));
  for (unsigned level = 0; level < std::max(levels, 1U); ++level) {
    const std::uint64_t row = times(width, element);
    const std::uint64_t rows = height > 1 ? (height + kRows - 1) / kRows * kRows : 1;
    const std::uint64_t size =
        row > kMostBytes ? ~0ULL : times(times((row + kRow - 1) / kRow * kRow, rows), depth);
    if (__builtin_add_overflow(bytes, size, &bytes)) {
      return ~0ULL;
    }
    width = std::max<std::uint64_t>(width / 2, 1);
    height = std::max<std::uint64_t>(height / 2, 1);
    depth = layered ? depth : std::max<std::uint64_t>(depth / 2, 1);
  }
  return bytes;
}

std::uint64_t ask_deferred(const Array3dDescriptor& descriptor, unsigned levels, CUdevice device) {
  Array3dDescriptor deferred = descriptor;
  deferred.flags |= kArrayDeferred;
  ArrayMemoryRequirements needs{};
  CUresult result = kSuccess;
  if (levels == 0) {
    CUarray twin = nullptr;
    if (REAL(cuArray3DCreate_v2)(&twin, &deferred) != kSuccess) {
      return 0;
    }
    result = driver::cuArrayGetMemoryRequirements(&needs, twin, device);
    REAL(cuArrayDestroy)(twin);
  } else {
    CUmipmappedArray twin = nullptr;
    if (REAL(cuMipmappedArrayCreate)(&twin, &deferred, levels) != kSuccess) {
      return 0;
    }
    result = driver::cuMipmappedArrayGetMemoryRequirements(&needs, twin, device);
    REAL(cuMipmappedArrayDestroy)(twin);
  }
  return result == kSuccess ? needs.size : 0;
}

}  // namespace

std::uint64_t array_bytes(const Array3dDescriptor& descriptor, unsigned levels, CUdevice device) {
  if ((descriptor.flags & (kArraySparse | kArrayDeferred)) != 0) {
    return 0;
  }
  const std::uint64_t asked = ask_deferred(descriptor, levels, device);
  return round_to_blocks(asked != 0 ? asked : computed(descriptor, levels));
}

}  // namespace gpupool::limiter
