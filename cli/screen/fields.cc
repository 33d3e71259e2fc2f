// SPDX-License-Identifier: Apache-2.0
#include "screen/fields.h"

#include <algorithm>

namespace gpupool::screen {

void add_field(std::string& all, std::string_view title, std::string_view text) {
  static constexpr std::size_t kIndent = 13;
  if (text.empty()) return;
  all += std::string(title) + ":" + std::string(kIndent - std::min(kIndent - 1, title.size() + 1), ' ');
  for (const char c : text) {
    all += c;
    if (c == '\n') all.append(kIndent, ' ');
  }
  all += '\n';
}

}  // namespace gpupool::screen
