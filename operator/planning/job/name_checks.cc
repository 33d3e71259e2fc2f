// SPDX-License-Identifier: Apache-2.0
#include "planning/job/name_checks.h"

#include <algorithm>

namespace gpupool::planning {

bool is_object_name(std::string_view name) {
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 253 && alphanumeric(name.front()) && alphanumeric(name.back()) &&
         std::ranges::all_of(name, [&](char c) { return alphanumeric(c) || c == '-' || c == '.'; });
}

std::string problem_of_path(std::string_view path) {
  if (path.size() > 1024) return "must have at most 1024 bytes";
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    const auto part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return "must not have an empty part, . or ..";
    if (part.size() > 255) return "must not have a part of more than 255 bytes";
    begin = end + 1;
  }
  const bool control = std::ranges::any_of(path, [](char c) { return static_cast<unsigned char>(c) < ' '; });
  if (control || path.find(':') != std::string_view::npos)
    return "must not have a control character or a colon";
  return {};
}

}  // namespace gpupool::planning
