// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpupool::base {

// FNV-1a over texts in order. It is stored in objects, so it must stay the same.
class FnvHash {
 public:
  void add(std::string_view text) {
    for (const char c : text) hash_ = (hash_ ^ static_cast<unsigned char>(c)) * kPrime;
    hash_ = (hash_ ^ 0xffU) * kPrime;  // separates the texts
  }
  std::uint64_t value() const { return hash_; }
  // 16 hex digits.
  std::string text() const {
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text(16, '0');
    for (std::size_t i = 0; i < text.size(); ++i) text[i] = kDigits[(hash_ >> (60 - 4 * i)) & 15U];
    return text;
  }

 private:
  static constexpr std::uint64_t kPrime = 1099511628211U;
  std::uint64_t hash_ = 14695981039346656037U;
};

}  // namespace gpupool::base
