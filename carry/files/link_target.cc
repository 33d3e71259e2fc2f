// SPDX-License-Identifier: Apache-2.0
#include "files/link_target.h"

#include <algorithm>
#include <string>

namespace gpupool::carry {
namespace {

constexpr std::size_t kMaxTarget = 2048;

}  // namespace

Outcome<LinkRoute> judge_link_target(std::string_view target, int depth) {
  if (target.empty()) return failed(FailureKind::kInvalid, "is a symbolic link without a target");
  if (target.size() > kMaxTarget)
    return failed(FailureKind::kInvalid, "is a symbolic link with a target of more than 2048 bytes");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(target.begin(), target.end(), is_control))
    return failed(FailureKind::kInvalid, "is a symbolic link whose target has a control character");
  const auto outside = [&] {
    return failed(FailureKind::kInvalid,
                  "is a symbolic link to " + std::string(target) + ", which is outside of its own tree");
  };
  if (target.front() == '/') return outside();
  auto route = LinkRoute::kInside;
  bool named = false;
  for (std::size_t begin = 0; begin <= target.size();) {
    const auto end = std::min(target.find('/', begin), target.size());
    const auto part = target.substr(begin, end - begin);
    begin = end + 1;
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      named = true;
      ++depth;
      continue;
    }
    if (--depth < 0) return outside();
    if (named) route = LinkRoute::kWinding;
  }
  return route;
}

}  // namespace gpupool::carry
