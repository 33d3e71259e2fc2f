// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace gpupool::base {

// One text of many, with `between` between them. Empty texts at the beginning leave nothing. Texts: a
// container of strings.
template <class Texts>
std::string join(const Texts& texts, std::string_view between) {
  std::string all;
  for (const auto& text : texts) {
    if (!all.empty()) all += between;
    all += text;
  }
  return all;
}

}  // namespace gpupool::base
