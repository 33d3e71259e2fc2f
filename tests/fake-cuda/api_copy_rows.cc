// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/call.h"

// The driver's functions that move parts of rows. Arrays have no content: what is written to them is lost,
// and what is read from them stays as it was.
using namespace gpupool::fake_cuda;

namespace {

constexpr int kHost = 1;
constexpr int kArray = 3;

std::uint64_t begin_of(int type, const void* host, Pointer device) {
  return type == kHost ? reinterpret_cast<std::uint64_t>(host) : device;
}

Result copy_rows(Driver& d, const Copy3D& asked) {
  if (asked.from_type == kArray || asked.to_type == kArray) return Result::kSuccess;
  const std::uint64_t from = begin_of(asked.from_type, asked.from_host, asked.from_device);
  const std::uint64_t to = begin_of(asked.to_type, asked.to_host, asked.to_device);
  const auto at = [](std::uint64_t begin, std::uint64_t pitch, std::uint64_t height, std::uint64_t x,
                     std::uint64_t y, std::uint64_t z) { return begin + (z * height + y) * pitch + x; };
  for (std::size_t z = 0; z < asked.depth; ++z) {
    for (std::size_t y = 0; y < asked.height; ++y) {
      const Result code = d.memory().copy(
          at(to, asked.to_pitch, asked.to_height, asked.to_x, asked.to_y + y, asked.to_z + z),
          at(from, asked.from_pitch, asked.from_height, asked.from_x, asked.from_y + y, asked.from_z + z),
          asked.width);
      if (code != Result::kSuccess) return code;
    }
  }
  return Result::kSuccess;
}

Result copy_flat(const char* name, const Copy2D* asked) {
  return call_in_context(name, [&](Driver& d, Context&) {
    if (asked == nullptr) return Result::kInvalidValue;
    Copy3D full{};
    full.from_x = asked->from_x;
    full.from_y = asked->from_y;
    full.from_type = asked->from_type;
    full.from_host = asked->from_host;
    full.from_device = asked->from_device;
    full.from_pitch = asked->from_pitch != 0 ? asked->from_pitch : asked->width;
    full.to_x = asked->to_x;
    full.to_y = asked->to_y;
    full.to_type = asked->to_type;
    full.to_host = asked->to_host;
    full.to_device = asked->to_device;
    full.to_pitch = asked->to_pitch != 0 ? asked->to_pitch : asked->width;
    full.width = asked->width;
    full.height = asked->height;
    full.depth = 1;
    return copy_rows(d, full);
  });
}

Result copy_deep(const char* name, const Copy3D* asked) {
  return call_in_context(name, [&](Driver& d, Context&) {
    return asked != nullptr ? copy_rows(d, *asked) : Result::kInvalidValue;
  });
}

}  // namespace

CUDA_FUNCTION(cuMemcpy2D_v2)(const Copy2D* asked) { return copy_flat(__func__, asked); }
CUDA_FUNCTION(cuMemcpy2DUnaligned_v2)(const Copy2D* asked) { return copy_flat(__func__, asked); }
CUDA_FUNCTION(cuMemcpy2DAsync_v2)(const Copy2D* asked, Stream*) { return copy_flat(__func__, asked); }
CUDA_FUNCTION(cuMemcpy3D_v2)(const Copy3D* asked) { return copy_deep(__func__, asked); }
CUDA_FUNCTION(cuMemcpy3DAsync_v2)(const Copy3D* asked, Stream*) { return copy_deep(__func__, asked); }
