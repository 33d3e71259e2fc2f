// SPDX-License-Identifier: Apache-2.0
#include "files/relative_path.h"

#include <algorithm>

namespace gpupool::carry {
namespace {

constexpr std::size_t kMaxPath = 2048;
constexpr std::size_t kMaxPart = 255;  // NAME_MAX of Linux' file systems

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

Outcome<std::vector<std::string>> split_path(std::string_view path) {
  const auto refuse = [](const std::string& why) { return failed(FailureKind::kInvalid, "a path " + why); };
  if (path.empty()) return refuse("is empty");
  if (path.size() > kMaxPath) return refuse("has more than 2048 bytes");
  if (std::any_of(path.begin(), path.end(), is_control)) return refuse("has a control character");
  const std::string shown(path);
  if (path.front() == '/') return refuse(shown + " is absolute");
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find('/', begin), path.size());
    const auto part = path.substr(begin, end - begin);
    if (part.empty()) return refuse(shown + " has an empty part");
    if (part == "." || part == "..") return refuse(shown + " has the part " + std::string(part));
    if (part.size() > kMaxPart) return refuse(shown + " has a part of more than 255 bytes");
    parts.emplace_back(part);
    begin = end + 1;
  }
  if (parts.back().ends_with(kPartSuffix)) return refuse(shown + " ends with " + std::string(kPartSuffix));
  return parts;
}

}  // namespace gpupool::carry
