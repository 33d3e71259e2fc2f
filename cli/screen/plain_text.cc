// SPDX-License-Identifier: Apache-2.0
#include "screen/plain_text.h"

#include <algorithm>

namespace gpupool::screen {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";
constexpr std::string_view kEllipsis = "\xe2\x80\xa6";

struct Character {
  char32_t code;
  std::size_t bytes;  // 0: no valid character begins here
};

unsigned byte(std::string_view text, std::size_t index) { return static_cast<unsigned char>(text[index]); }

// RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
Character decode(std::string_view text) {
  const unsigned lead = byte(text, 0);
  if (lead < 0x80) return {lead, 1};
  std::size_t bytes = 0;
  if (lead >= 0xc2 && lead <= 0xdf) bytes = 2;
  if (lead >= 0xe0 && lead <= 0xef) bytes = 3;
  if (lead >= 0xf0 && lead <= 0xf4) bytes = 4;
  if (bytes == 0 || text.size() < bytes) return {0, 0};
  char32_t code = lead & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(text, i) & 0xc0U) != 0x80U) return {0, 0};
    code = (code << 6U) | (byte(text, i) & 0x3fU);
  }
  const bool overlong = (bytes == 3 && code < 0x800) || (bytes == 4 && code < 0x10000);
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  if (overlong || surrogate || code > 0x10ffff) return {0, 0};
  return {code, bytes};
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
    const auto [code, bytes] = decode(text);
    if (bytes == 0) {
      plain += kReplacement;
      text.remove_prefix(1);
      continue;
    }
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
