// SPDX-License-Identifier: Apache-2.0
#include "inventory/model_label.h"

#include <cctype>

namespace gpupool::inventory {

std::string model_label(const std::string& product) {
  constexpr std::size_t kLongest = 63;
  const auto is_alnum = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  std::string label;
  for (const char c : product.substr(0, kLongest)) {
    label += is_alnum(c) || c == '.' || c == '_' ? c : '-';
  }
  while (!label.empty() && !is_alnum(label.back())) label.pop_back();
  while (!label.empty() && !is_alnum(label.front())) label.erase(0, 1);
  return label;
}

}  // namespace gpupool::inventory
