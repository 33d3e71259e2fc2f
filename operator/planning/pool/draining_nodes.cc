// SPDX-License-Identifier: Apache-2.0
#include "planning/pool/draining_nodes.h"

#include <algorithm>
#include <string_view>

#include "api/v1alpha1/names.h"
#include "planning/nodes/node_drain.h"

namespace gpupool::planning {
namespace {

constexpr std::size_t kMostName = 128;

// As a job is named. The owner of the node may have written anything.
bool names_job(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/';
  });
}

std::string shortened(std::string name) {
  if (name.size() > kMostName) name = name.substr(0, kMostName - 3) + "...";
  return name;
}

std::string holder_of(const PoolNode& node, const std::map<std::string, std::string>& holders) {
  if (const auto known = holders.find(node.name); known != holders.end()) return shortened(known->second);
  if (!node.leased) return {};
  auto written = node.object->metadata.annotation(api::kLease);
  return names_job(written) ? shortened(std::move(written)) : std::string();
}

}  // namespace

Drains drains_of(const std::vector<const PoolNode*>& nodes,
                 const std::map<std::string, std::string>& holders) {
  Drains found;
  for (const auto* node : nodes) {
    if (!node->draining || node->object == nullptr) continue;
    const auto drain = drain_of(*node->object);
    if (!drain) continue;
    const bool held = node->leased || holders.contains(node->name);
    if (held) {
      ++found.held;
      const auto& deadline = drain->deadline;
      if (deadline) found.first_deadline = std::min(found.first_deadline.value_or(*deadline), *deadline);
    }
    if (held || !drain->problem.empty())
      found.nodes.push_back({node->name, holder_of(*node, holders), drain->deadline, drain->problem});
  }
  return found;
}

}  // namespace gpupool::planning
