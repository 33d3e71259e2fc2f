// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

// What a program prints besides plain text: the lengths of UTF-8 characters and of terminal escape sequences.
// Pure. Needs the standard library alone: the static launcher includes it.
namespace gpupool::base {

inline constexpr char kEscape = '\x1b';
inline constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";  // U+FFFD

inline unsigned byte_at(std::string_view text, std::size_t index) {
  return static_cast<unsigned char>(text[index]);
}

// Length of the escape sequence that `text` begins with (ECMA-48: CSI, or OSC up to BEL or ST on the same
// line). At least 1. REQUIRES: `text` begins with kEscape.
inline std::size_t escape_length(std::string_view text) {
  if (text.size() < 2) return text.size();
  if (text[1] == '[') {
    std::size_t end = 2;
    while (end < text.size() && byte_at(text, end) >= 0x20 && byte_at(text, end) < 0x40) ++end;
    return end < text.size() && byte_at(text, end) >= 0x40 && byte_at(text, end) < 0x7f ? end + 1 : end;
  }
  if (text[1] == ']') {
    std::size_t end = 2;
    while (end < text.size() && text[end] != '\a' && text[end] != kEscape && text[end] != '\n') ++end;
    if (end < text.size() && text[end] == '\a') return end + 1;
    if (end + 1 < text.size() && text[end] == kEscape && text[end + 1] == '\\') return end + 2;
    return end;
  }
  return byte_at(text, 1) >= 0x20 && byte_at(text, 1) < 0x7f ? 2 : 1;
}

// True if the whole escape sequence sets colours and weight (SGR) and nothing else: CSI digits ; : m.
inline bool is_colour(std::string_view sequence) {
  return sequence.size() >= 3 && sequence[1] == '[' && sequence.back() == 'm' &&
         sequence.substr(2, sequence.size() - 3).find_first_not_of("0123456789;:") == std::string_view::npos;
}

// The length of the valid UTF-8 character that `text` begins with; 0 when it does not begin with one. RFC
// 3629, table of well-formed sequences: no overlong forms, no surrogates, nothing above U+10FFFF.
inline std::size_t utf8_length(std::string_view text) {
  struct Range {
    std::size_t length;
    unsigned second_low;
    unsigned second_high;
  };
  const auto sequence_after = [](unsigned lead) -> Range {
    if (lead < 0x80) return {1, 0, 0};
    if (lead >= 0xc2 && lead <= 0xdf) return {2, 0x80, 0xbf};
    if (lead == 0xe0) return {3, 0xa0, 0xbf};
    if (lead == 0xed) return {3, 0x80, 0x9f};
    if (lead >= 0xe1 && lead <= 0xef) return {3, 0x80, 0xbf};
    if (lead == 0xf0) return {4, 0x90, 0xbf};
    if (lead >= 0xf1 && lead <= 0xf3) return {4, 0x80, 0xbf};
    if (lead == 0xf4) return {4, 0x80, 0x8f};
    return {0, 0, 0};
  };
  if (text.empty()) return 0;
  const Range range = sequence_after(byte_at(text, 0));
  if (range.length == 0 || range.length > text.size()) return 0;
  if (range.length > 1 && (byte_at(text, 1) < range.second_low || byte_at(text, 1) > range.second_high)) {
    return 0;
  }
  for (std::size_t i = 2; i < range.length; ++i) {
    if ((byte_at(text, i) & 0xc0U) != 0x80U) return 0;
  }
  return range.length;
}

}  // namespace gpupool::base
