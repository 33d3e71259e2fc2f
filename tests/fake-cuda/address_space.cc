// SPDX-License-Identifier: Apache-2.0
#include "tests/fake-cuda/address_space.h"

#include <algorithm>
#include <cstring>

namespace gpupool::fake_cuda {

Range* AddressSpace::at(std::uint64_t address) {
  const auto found = ranges_.find(address);
  return found != ranges_.end() ? &found->second : nullptr;
}

Range* AddressSpace::holding(std::uint64_t address, std::uint64_t* begin) {
  auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin()) return nullptr;
  --after;
  if (address - after->first >= after->second.size) return nullptr;
  if (begin != nullptr) *begin = after->first;
  return &after->second;
}

bool AddressSpace::overlaps(std::uint64_t address, std::uint64_t size) {
  const auto after = ranges_.lower_bound(address);
  return (after != ranges_.end() && after->first - address < size) || holding(address) != nullptr;
}

bool AddressSpace::is_reserved(std::uint64_t address, std::uint64_t size) const {
  auto after = reserved_.upper_bound(address);
  if (after == reserved_.begin()) return false;
  --after;
  const std::uint64_t inside = address - after->first;
  return inside < after->second && size <= after->second - inside;
}

AddressSpace::Piece AddressSpace::piece(std::uint64_t address, std::uint64_t bytes) {
  std::uint64_t begin = 0;
  Range* const range = holding(address, &begin);
  if (range == nullptr) {
    if (is_reserved(address, 1)) return {nullptr, 0};
    const auto after = ranges_.upper_bound(address);
    const std::uint64_t free = after != ranges_.end() ? after->first - address : bytes;
    return {reinterpret_cast<std::byte*>(address), std::min(bytes, free)};
  }
  const std::uint64_t inside = address - begin;
  const std::uint64_t length = std::min(bytes, range->size - inside);
  if (range->source == Source::kManaged || range->source == Source::kHost ||
      range->source == Source::kRegistered) {
    return {reinterpret_cast<std::byte*>(address), length};
  }
  if (!range->accessible || range->backing == nullptr) return {nullptr, 0};
  std::byte* const data = range->backing->data();
  return {data != nullptr ? data + range->offset + inside : nullptr, length};
}

Result AddressSpace::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes) {
  while (bytes > 0) {
    const Piece out = piece(to, bytes);
    const Piece in = piece(from, bytes);
    if (out.data == nullptr || in.data == nullptr) return Result::kInvalidValue;
    const std::uint64_t length = std::min(out.bytes, in.bytes);
    std::memmove(out.data, in.data, length);
    to += length;
    from += length;
    bytes -= length;
  }
  return Result::kSuccess;
}

Result AddressSpace::fill(std::uint64_t to, std::uint64_t pattern, unsigned width, std::uint64_t count) {
  std::uint64_t left = count * width;
  while (left > 0) {
    const Piece out = piece(to, left);
    if (out.data == nullptr) return Result::kInvalidValue;
    if (width == 1) {
      std::memset(out.data, static_cast<int>(pattern & 0xFFU), out.bytes);
    } else {
      for (std::uint64_t i = 0; i + width <= out.bytes; i += width)
        std::memcpy(out.data + i, &pattern, width);
    }
    to += out.bytes;
    left -= out.bytes;
  }
  return Result::kSuccess;
}

}  // namespace gpupool::fake_cuda
