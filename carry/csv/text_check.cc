// SPDX-License-Identifier: Apache-2.0
#include "csv/text_check.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/terminal_text.h"

namespace gpupool::carry::csv {
namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101;
constexpr std::uint64_t kHighBits = 0x8080808080808080;

// Whether all bytes of the word are from 1 to 127: where one is 0, the difference has its high bit.
std::uint64_t suspicious(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return (word | (word - kOnes)) & kHighBits;
}

}  // namespace

std::size_t good_text(std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    while (bytes.size() - at >= 32) {
      const char* word = bytes.data() + at;
      if ((suspicious(word) | suspicious(word + 8) | suspicious(word + 16) | suspicious(word + 24)) != 0)
        break;
      at += 32;
    }
    while (bytes.size() - at >= 8 && suspicious(bytes.data() + at) == 0) at += 8;
    if (at == bytes.size()) break;
    const auto length = base::utf8_length(bytes.substr(at));
    if (length == 0 || bytes[at] == '\0') break;
    at += length;
  }
  return at;
}

bool is_cut_off(std::string_view bytes) {
  if (bytes.empty() || bytes.size() > 3) return false;
  // The smallest and the largest of the second bytes that may be followed by others.
  for (const std::string_view rest :
       {"\x80\x80\x80", "\x90\x80\x80", "\xbf\x80\x80", "\x9f\x80\x80", "\x8f\x80\x80"}) {
    const std::string whole = std::string(bytes) + std::string(rest);
    if (const auto length = base::utf8_length(whole); length > bytes.size()) return true;
  }
  return false;
}

}  // namespace gpupool::carry::csv
