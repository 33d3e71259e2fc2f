// SPDX-License-Identifier: Apache-2.0
#include "base/word.h"

#include <bit>
#include <memory>
#include <ostream>
#include <utility>

namespace gpupool::base {
namespace {

// The content of the bytes when the text is on the heap.
struct Elsewhere {
  const std::string* text;
  std::array<char, 8> rest;
};

}  // namespace

Word& Word::operator=(const Word& other) {
  if (this != &other) *this = Word(other);
  return *this;
}

Word& Word::operator=(Word&& other) noexcept {
  std::swap(bytes_, other.bytes_);
  return *this;
}

std::string_view Word::view() const {
  if (bytes_[kRoom] != kElsewhere) return {bytes_.data(), static_cast<std::size_t>(bytes_[kRoom])};
  return *std::bit_cast<Elsewhere>(bytes_).text;
}

void Word::store(std::string_view text) {
  bytes_ = {};
  if (text.size() <= kRoom) {
    text.copy(bytes_.data(), kRoom);
    bytes_[kRoom] = static_cast<char>(text.size());
    return;
  }
  const Elsewhere elsewhere{std::make_unique<const std::string>(text).release(), {}};
  bytes_ = std::bit_cast<decltype(bytes_)>(elsewhere);
  bytes_[kRoom] = kElsewhere;
}

void Word::drop() {
  if (bytes_[kRoom] != kElsewhere) return;
  const std::unique_ptr<const std::string> owner(std::bit_cast<Elsewhere>(bytes_).text);
}

std::ostream& operator<<(std::ostream& out, const Word& word) { return out << word.view(); }

}  // namespace gpupool::base
