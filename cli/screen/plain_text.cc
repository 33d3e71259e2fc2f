// SPDX-License-Identifier: Apache-2.0
#include "screen/plain_text.h"

#include <algorithm>

#include "base/terminal_text.h"

namespace gpupool::screen {
namespace {

constexpr std::string_view kEllipsis = "\xe2\x80\xa6";

// REQUIRES: bytes is the length of the valid character that `text` begins with.
char32_t code_of(std::string_view text, std::size_t bytes) {
  if (bytes == 1) return base::byte_at(text, 0);
  char32_t code = base::byte_at(text, 0) & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) code = (code << 6U) | (base::byte_at(text, i) & 0x3fU);
  return code;
}

bool is_control(char32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

// Marks, embeddings, overrides and isolates of the Unicode bidirectional algorithm.
bool turns_direction(char32_t code) {
  return code == 0x061c || code == 0x200e || code == 0x200f || (code >= 0x202a && code <= 0x202e) ||
         (code >= 0x2066 && code <= 0x2069);
}

std::string without_controls(std::string_view text, bool keep_breaks) {
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const std::size_t bytes = base::utf8_length(text);
    if (bytes == 0) {
      plain += base::kReplacementCharacter;
      text.remove_prefix(1);
      continue;
    }
    const char32_t code = code_of(text, bytes);
    if (code == '\n' && keep_breaks) {
      plain += '\n';
    } else if (is_control(code) || turns_direction(code)) {
      plain += ' ';
    } else {
      plain += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return plain;
}

bool begins_character(char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }

}  // namespace

std::string plain_text(std::string_view text) { return without_controls(text, false); }

std::string plain_lines(std::string_view text) { return without_controls(text, true); }

std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string cut(std::string_view text, std::size_t columns) {
  if (width(text) <= columns) return std::string(text);
  std::size_t seen = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (begins_character(text[end]) && seen++ == columns - 1) break;
  }
  return std::string(text.substr(0, end)) + std::string(kEllipsis);
}

}  // namespace gpupool::screen
