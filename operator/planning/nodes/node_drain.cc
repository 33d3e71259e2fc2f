// SPDX-License-Identifier: Apache-2.0
#include "planning/nodes/node_drain.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "api/v1alpha1/names.h"
#include "base/rfc3339.h"
#include "base/terminal_text.h"

namespace gpupool::planning {
namespace {

constexpr std::size_t kMostQuoted = 40;  // characters; an annotation may have 256 KiB

bool is_printable(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; }

// In printable ASCII, because anything may be in there.
std::string quoted(std::string_view value) {
  std::string text = "\"";
  for (std::size_t count = 0; count < kMostQuoted && !value.empty(); ++count) {
    text += is_printable(value.front()) ? value.front() : '?';
    value.remove_prefix(std::max<std::size_t>(1, base::utf8_length(value)));
  }
  return text + (value.empty() ? "\"" : "...\"");
}

}  // namespace

std::optional<NodeDrain> drain_of(const api::Node& node) {
  const auto found = node.metadata.annotations.find(api::kDrain);
  if (found == node.metadata.annotations.end()) return std::nullopt;
  NodeDrain drain;
  if (found->second.empty()) return drain;
  if (const auto time = base::parse_rfc3339(found->second)) {
    drain.deadline = std::chrono::floor<std::chrono::seconds>(*time);
  } else {
    drain.problem = quoted(found->second) +
                    " is not an RFC 3339 time such as 2026-11-24T18:00:00Z; the drain has no deadline";
  }
  return drain;
}

}  // namespace gpupool::planning
