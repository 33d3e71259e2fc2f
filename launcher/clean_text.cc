// SPDX-License-Identifier: Apache-2.0
#include "launcher/clean_text.h"

#include "base/terminal_text.h"

namespace gpupool::launcher {

std::size_t utf8_length(std::string_view text) { return base::utf8_length(text); }

std::string clean_text(std::string_view raw) {
  std::string clean;
  clean.reserve(raw.size());
  while (!raw.empty()) {
    const char first = raw.front();
    std::size_t length = 1;
    if (first == base::kEscape) {
      length = base::escape_length(raw);
    } else if ((base::byte_at(raw, 0) < 0x20 && first != '\n' && first != '\t') || first == 0x7f) {
      length = 1;
    } else if (const std::size_t valid = utf8_length(raw); valid > 0) {
      length = valid;
      clean += raw.substr(0, length);
    } else {
      clean += base::kReplacementCharacter;
    }
    raw.remove_prefix(length);
  }
  return clean;
}

}  // namespace gpupool::launcher
