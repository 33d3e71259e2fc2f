// SPDX-License-Identifier: Apache-2.0
#include "logs/text_style.h"

#include <array>
#include <string_view>

#include "base/terminal_text.h"

namespace gpupool::logs {
namespace {

constexpr std::string_view kPlain = "\x1b[0m";
constexpr std::string_view kDim = "\x1b[2m";
// Readable on dark and on bright terminals: neither black, white nor yellow; red is for errors.
constexpr std::array<std::string_view, 8> kRankColours = {"\x1b[36m", "\x1b[32m", "\x1b[35m", "\x1b[34m",
                                                          "\x1b[96m", "\x1b[92m", "\x1b[95m", "\x1b[94m"};

// C1: some terminals obey these as they obey escape sequences.
bool is_high_control(std::string_view character) {
  return character.size() == 2 && base::byte_at(character, 0) == 0xc2 && base::byte_at(character, 1) < 0xa0;
}

bool is_control(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

// True if a colour was added.
bool add_clean(std::string& out, std::string_view text, bool colours) {
  bool coloured = false;
  while (!text.empty()) {
    std::size_t length = 1;
    if (text.front() == base::kEscape) {
      length = base::escape_length(text);
      if (colours && base::is_colour(text.substr(0, length))) {
        out += text.substr(0, length);
        coloured = true;
      }
    } else if (is_control(text.front())) {
      length = 1;
    } else if (const std::size_t valid = base::utf8_length(text); valid > 0) {
      length = valid;
      if (!is_high_control(text.substr(0, length))) out += text.substr(0, length);
    } else {
      out += base::kReplacementCharacter;
    }
    text.remove_prefix(length);
  }
  return coloured;
}

void add_cut(std::string& out, std::size_t bytes) {
  if (bytes > 0) out += "...[" + std::to_string(bytes) + " bytes]";
}

}  // namespace

std::string shown_line(std::int64_t rank, const LogLine& line, const TextStyle& style) {
  std::string out;
  out.reserve(line.text.size() + 48);
  if (style.raw) {
    if (style.timestamps) out += line.stamp + ' ';
    out += line.text;
    add_cut(out, line.cut);
    return out += '\n';
  }
  if (style.ranks) {
    const std::string number = std::to_string(rank);
    if (style.colours) out += kRankColours[static_cast<std::size_t>(rank) % kRankColours.size()];
    const auto width = static_cast<std::size_t>(style.rank_width);
    if (number.size() < width) out.append(width - number.size(), ' ');
    out += number + " |";
    if (style.colours) out += kPlain;
    out += ' ';
  }
  if (style.timestamps) out += line.stamp + ' ';
  const bool coloured = add_clean(out, line.text, style.colours);
  add_cut(out, line.cut);
  if (coloured) out += kPlain;
  return out += '\n';
}

std::string shown_note(const std::string& text, const TextStyle& style) {
  std::string out;
  if (style.colours) out += kDim;
  out += "-- ";
  add_clean(out, text, false);
  out += " --";
  if (style.colours) out += kPlain;
  return out += '\n';
}

}  // namespace gpupool::logs
