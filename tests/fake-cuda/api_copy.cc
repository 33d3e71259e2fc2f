// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/call.h"

// The driver's functions that move and fill memory. Everything is done when they return, also the
// asynchronous ones.
using namespace gpupool::fake_cuda;

namespace {

std::uint64_t host(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

Result copy(const char* name, std::uint64_t to, std::uint64_t from, std::size_t bytes) {
  return call_in_context(name, [&](Driver& d, Context&) { return d.memory().copy(to, from, bytes); });
}

Result fill(const char* name, Pointer to, std::uint64_t pattern, unsigned width, std::size_t count) {
  return call_in_context(name,
                         [&](Driver& d, Context&) { return d.memory().fill(to, pattern, width, count); });
}

Result fill_rows(const char* name, Pointer to, std::size_t pitch, std::uint64_t pattern, unsigned width,
                 std::size_t columns, std::size_t rows) {
  return call_in_context(name, [&](Driver& d, Context&) {
    Result code = Result::kSuccess;
    for (std::size_t row = 0; row < rows && code == Result::kSuccess; ++row) {
      code = d.memory().fill(to + row * pitch, pattern, width, columns);
    }
    return code;
  });
}

}  // namespace

CUDA_FUNCTION(cuMemcpy)(Pointer to, Pointer from, std::size_t bytes) {
  return copy(__func__, to, from, bytes);
}
CUDA_FUNCTION(cuMemcpyAsync)(Pointer to, Pointer from, std::size_t bytes, Stream*) {
  return copy(__func__, to, from, bytes);
}
CUDA_FUNCTION(cuMemcpyPeer)(Pointer to, Context*, Pointer from, Context*, std::size_t bytes) {
  return copy(__func__, to, from, bytes);
}
CUDA_FUNCTION(cuMemcpyPeerAsync)(Pointer to, Context*, Pointer from, Context*, std::size_t bytes, Stream*) {
  return copy(__func__, to, from, bytes);
}
CUDA_FUNCTION(cuMemcpyHtoD_v2)(Pointer to, const void* from, std::size_t bytes) {
  return copy(__func__, to, host(from), bytes);
}
CUDA_FUNCTION(cuMemcpyHtoDAsync_v2)(Pointer to, const void* from, std::size_t bytes, Stream*) {
  return copy(__func__, to, host(from), bytes);
}
CUDA_FUNCTION(cuMemcpyDtoH_v2)(void* to, Pointer from, std::size_t bytes) {
  return copy(__func__, host(to), from, bytes);
}
CUDA_FUNCTION(cuMemcpyDtoHAsync_v2)(void* to, Pointer from, std::size_t bytes, Stream*) {
  return copy(__func__, host(to), from, bytes);
}
CUDA_FUNCTION(cuMemcpyDtoD_v2)(Pointer to, Pointer from, std::size_t bytes) {
  return copy(__func__, to, from, bytes);
}
CUDA_FUNCTION(cuMemcpyDtoDAsync_v2)(Pointer to, Pointer from, std::size_t bytes, Stream*) {
  return copy(__func__, to, from, bytes);
}
CUDA_FUNCTION(cuMemcpyHtoD)(PointerV1 to, const void* from, unsigned int bytes) {
  return copy(__func__, to, host(from), bytes);
}
CUDA_FUNCTION(cuMemcpyDtoH)(void* to, PointerV1 from, unsigned int bytes) {
  return copy(__func__, host(to), from, bytes);
}

CUDA_FUNCTION(cuMemsetD8_v2)(Pointer to, unsigned char value, std::size_t count) {
  return fill(__func__, to, value, 1, count);
}
CUDA_FUNCTION(cuMemsetD16_v2)(Pointer to, unsigned short value, std::size_t count) {
  return fill(__func__, to, value, 2, count);
}
CUDA_FUNCTION(cuMemsetD32_v2)(Pointer to, unsigned int value, std::size_t count) {
  return fill(__func__, to, value, 4, count);
}
CUDA_FUNCTION(cuMemsetD8Async)(Pointer to, unsigned char value, std::size_t count, Stream*) {
  return fill(__func__, to, value, 1, count);
}
CUDA_FUNCTION(cuMemsetD16Async)(Pointer to, unsigned short value, std::size_t count, Stream*) {
  return fill(__func__, to, value, 2, count);
}
CUDA_FUNCTION(cuMemsetD32Async)(Pointer to, unsigned int value, std::size_t count, Stream*) {
  return fill(__func__, to, value, 4, count);
}
CUDA_FUNCTION(cuMemsetD2D8_v2)
(Pointer to, std::size_t pitch, unsigned char value, std::size_t columns, std::size_t rows) {
  return fill_rows(__func__, to, pitch, value, 1, columns, rows);
}
CUDA_FUNCTION(cuMemsetD2D16_v2)
(Pointer to, std::size_t pitch, unsigned short value, std::size_t columns, std::size_t rows) {
  return fill_rows(__func__, to, pitch, value, 2, columns, rows);
}
CUDA_FUNCTION(cuMemsetD2D32_v2)
(Pointer to, std::size_t pitch, unsigned int value, std::size_t columns, std::size_t rows) {
  return fill_rows(__func__, to, pitch, value, 4, columns, rows);
}
CUDA_FUNCTION(cuMemsetD2D8Async)
(Pointer to, std::size_t pitch, unsigned char value, std::size_t columns, std::size_t rows, Stream*) {
  return fill_rows(__func__, to, pitch, value, 1, columns, rows);
}
CUDA_FUNCTION(cuMemsetD2D32Async)
(Pointer to, std::size_t pitch, unsigned int value, std::size_t columns, std::size_t rows, Stream*) {
  return fill_rows(__func__, to, pitch, value, 4, columns, rows);
}
