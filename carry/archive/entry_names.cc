// SPDX-License-Identifier: Apache-2.0
#include "archive/entry_names.h"

namespace gpupool::carry {

std::string entry_path(std::string_view name, bool directory) {
  if (name == "." || name == "./") return {};
  if (name.starts_with("./")) name.remove_prefix(2);
  if (directory && name.size() > 1 && name.ends_with('/')) name.remove_suffix(1);
  return std::string(name);
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMost = 200;
  std::string result(text.substr(0, kMost));
  for (char& c : result) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  if (text.size() > kMost) result += "...";
  return result;
}

}  // namespace gpupool::carry
