// SPDX-License-Identifier: Apache-2.0
#include "push/place_names.h"

#include <array>
#include <string_view>
#include <utility>

namespace gpupool::carry {

std::string fill_in(std::string text, const PlaceNames& names) {
  const std::array<std::pair<std::string_view, std::string>, 4> values = {
      {{"$(job)", names.job},
       {"$(namespace)", names.ns},
       {"$(attempt)", std::to_string(names.attempt)},
       {"$(rank)", std::to_string(names.rank)}}};
  for (const auto& [name, value] : values) {
    for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + value.size()))
      text.replace(at, name.size(), value);
  }
  return text;
}

}  // namespace gpupool::carry
