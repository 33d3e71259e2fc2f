// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gpupool::limiter {

// Without std::string_view::substr, which needs libstdc++'s shared library to throw.
constexpr std::string_view piece(std::string_view text, std::size_t begin, std::size_t length) {
  text.remove_prefix(begin < text.size() ? begin : text.size());
  return {text.data(), length < text.size() ? length : text.size()};
}

// Takes the text up to the first `separator` off the front, and the separator.
constexpr std::string_view take_until(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view word = piece(text, 0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return word;
}

// A decimal number of digits alone, at most `highest`. False: it is none; `number` is unchanged.
constexpr bool parse_number(std::string_view text, std::uint64_t highest, std::uint64_t& number) {
  if (text.empty() || text.size() > 20) return false;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > highest / 10 || value * 10 > highest - (digit < highest ? digit : highest)) return false;
    value = value * 10 + digit;
    if (value > highest) return false;
  }
  number = value;
  return true;
}

}  // namespace gpupool::limiter
