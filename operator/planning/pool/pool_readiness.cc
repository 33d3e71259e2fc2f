// SPDX-License-Identifier: Apache-2.0
#include "planning/pool/pool_readiness.h"

#include <algorithm>

#include "api/v1alpha1/reasons.h"
#include "base/join.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
constexpr std::size_t kMaxReasons = 3;   // nodes that are named with their reason
constexpr std::size_t kMaxSelector = 8;  // labels and expressions that are shown

// As `kubectl get nodes --selector` takes it.
std::string text_of(const api::LabelSelector& selector) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : selector.match_labels) {
    parts.push_back(key);
    parts.back().append("=").append(value);
  }
  for (const auto& each : selector.match_expressions) {
    if (each.op == "Exists") {
      parts.push_back(each.key);
    } else if (each.op == "DoesNotExist") {
      parts.push_back("!" + each.key);
    } else {
      parts.push_back(each.key + (each.op == "In" ? " in (" : " notin (") + base::join(each.values, ",") +
                      ")");
    }
  }
  const bool cut = parts.size() > kMaxSelector;
  if (cut) parts.resize(kMaxSelector);
  return base::join(parts, ",") + (cut ? ",..." : "");
}

api::Problem no_nodes(const api::LabelSelector& selector) {
  if (selector.match_labels.empty() && selector.match_expressions.empty())
    return {reason::kNoMatchingNodes, "the cluster has no nodes"};
  std::string text = "no node matches spec.nodeSelector (" + text_of(selector) + ")";
  // Labels that a person can simply copy.
  if (selector.match_expressions.empty() && selector.match_labels.size() <= kMaxSelector) {
    text += "; to add one: kubectl label node NAME";
    for (const auto& [key, value] : selector.match_labels)
      text.append(" ").append(key).append("=").append(value);
  }
  return {reason::kNoMatchingNodes, std::move(text)};
}

}  // namespace

std::string count_of_nodes(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " node" : " nodes");
}

std::optional<api::Problem> why_not_ready(const api::GpuPool& pool, const Members& members,
                                          std::int64_t usable,
                                          const std::vector<api::ExcludedNode>& left_out) {
  if (usable > 0) return std::nullopt;
  if (left_out.empty()) return no_nodes(pool.spec.node_selector);
  const bool has_members = left_out.size() > members.excluded.size();
  const auto begin = has_members ? members.excluded.size() : 0;  // a member's own reason says more
  const auto count = static_cast<std::int64_t>(left_out.size() - begin);
  std::string text = count == 1 ? "1 node matches spec.nodeSelector, and it cannot be used: "
                                : count_of_nodes(count) + " match spec.nodeSelector, and none can be used: ";
  const auto end = std::min(left_out.size(), begin + kMaxReasons);
  for (auto i = begin; i < end; ++i) {
    text.append(i == begin ? "" : "; ").append(left_out[i].name).append(": ").append(left_out[i].reason);
  }
  if (end < left_out.size())
    text += "; and " + std::to_string(left_out.size() - end) + " more, see status.excluded";
  const auto* const why = has_members             ? reason::kNoMatchingGpus
                          : members.in_older_pool ? reason::kNodesInOlderPool
                                                  : reason::kNoMatchingNodes;
  return api::Problem{why, std::move(text)};
}

}  // namespace gpupool::planning
