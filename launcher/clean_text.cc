// SPDX-License-Identifier: Apache-2.0
#include "launcher/clean_text.h"

namespace gpupool::launcher {
namespace {

constexpr char kEscape = '\x1b';
constexpr std::string_view kReplacement = "\xef\xbf\xbd";

unsigned byte_at(std::string_view text, std::size_t index) { return static_cast<unsigned char>(text[index]); }

// Length of the escape sequence that `text` begins with (ECMA-48: CSI, or OSC up to BEL or ST on the same
// line).
std::size_t escape_length(std::string_view text) {
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

struct Range {
  std::size_t length;
  unsigned second_low;
  unsigned second_high;
};

// RFC 3629, table of well-formed sequences: no overlong forms, no surrogates, nothing above U+10FFFF.
Range sequence_after(unsigned lead) {
  if (lead < 0x80) return {1, 0, 0};
  if (lead >= 0xc2 && lead <= 0xdf) return {2, 0x80, 0xbf};
  if (lead == 0xe0) return {3, 0xa0, 0xbf};
  if (lead == 0xed) return {3, 0x80, 0x9f};
  if (lead >= 0xe1 && lead <= 0xef) return {3, 0x80, 0xbf};
  if (lead == 0xf0) return {4, 0x90, 0xbf};
  if (lead >= 0xf1 && lead <= 0xf3) return {4, 0x80, 0xbf};
  if (lead == 0xf4) return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  if (text.empty()) return 0;
  const Range range = sequence_after(byte_at(text, 0));
  if (range.length == 0 || range.length > text.size()) return 0;
  if (range.length > 1 && (byte_at(text, 1) < range.second_low || byte_at(text, 1) > range.second_high))
    return 0;
  for (std::size_t i = 2; i < range.length; ++i) {
    if ((byte_at(text, i) & 0xc0U) != 0x80U) return 0;
  }
  return range.length;
}

std::string clean_text(std::string_view raw) {
  std::string clean;
  clean.reserve(raw.size());
  while (!raw.empty()) {
    const char first = raw.front();
    std::size_t length = 1;
    if (first == kEscape) {
      length = escape_length(raw);
    } else if ((byte_at(raw, 0) < 0x20 && first != '\n' && first != '\t') || first == 0x7f) {
      length = 1;
    } else if (const std::size_t valid = utf8_length(raw); valid > 0) {
      length = valid;
      clean += raw.substr(0, length);
    } else {
      clean += kReplacement;
    }
    raw.remove_prefix(length);
  }
  return clean;
}

}  // namespace gpupool::launcher
