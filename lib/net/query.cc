// SPDX-License-Identifier: Apache-2.0
#include "net/query.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

namespace gpupool::net {

std::optional<std::string> percent_decode(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain.push_back(text[i]);
      continue;
    }
    unsigned int byte = 0;
    const std::string digits(text.substr(i + 1, 2));
    const char* const last = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), last, byte, 16);
    if (digits.size() != 2 || read.ec != std::errc() || read.ptr != last) return std::nullopt;
    plain.push_back(static_cast<char>(byte));
    i += 2;
  }
  return plain;
}

std::optional<std::map<std::string, std::string>> read_query(std::string_view query) {
  std::map<std::string, std::string> parameters;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(part.size() + 1, query.size()));
    if (part.empty()) continue;
    const std::size_t equals = std::min(part.find('='), part.size());
    auto name = percent_decode(part.substr(0, equals));
    auto value = percent_decode(part.substr(std::min(equals + 1, part.size())));
    if (!name || !value) return std::nullopt;
    parameters[std::move(*name)] = std::move(*value);
  }
  return parameters;
}

std::vector<std::string> path_parts(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    path.remove_prefix(1);  // '/'
    const std::string_view part = path.substr(0, path.find('/'));
    parts.emplace_back(part);
    path.remove_prefix(part.size());
  }
  return parts;
}

}  // namespace gpupool::net
