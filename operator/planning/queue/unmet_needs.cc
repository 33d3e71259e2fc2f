// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/unmet_needs.h"

#include <algorithm>
#include <string_view>

#include "api/v1alpha1/reasons.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;
using NodesOfPool = std::vector<const PoolNode*>;

// Leaves the nodes that meet these needs.
NodesOfPool suited(NodesOfPool nodes, const NodeNeeds& needs) {
  std::erase_if(nodes, [&](const PoolNode* node) { return !suits(*node, needs); });
  return nodes;
}

// Why labels and affinity of the template leave no node.
std::string unmet_selection(const NodesOfPool& nodes, const NodeNeeds& needs) {
  for (const auto& label : needs.labels) {
    if (suited(nodes, {.labels = {label}}).empty()) {
      return "has label " + label.first + "=" + label.second +
             " that spec.template.spec.nodeSelector asks for";
    }
  }
  if (suited(nodes, {.labels = needs.labels}).empty())
    return "has all labels that spec.template.spec.nodeSelector asks for";
  return "meets spec.template.spec.affinity.nodeAffinity" +
         std::string(needs.labels.empty() ? "" : " and spec.template.spec.nodeSelector");
}

std::string all_requests(const NodeNeeds& needs) {
  std::string text;
  needs.requests.each([&](std::string_view name, std::int64_t amount) {
    text += (text.empty() ? "" : ", ") + amount_text(name, amount);
  });
  return text;
}

// Why no node has room for one worker; empty if one has.
std::string unmet_requests(const NodesOfPool& nodes, const NodeNeeds& needs) {
  std::string small;
  needs.requests.each([&](std::string_view name, std::int64_t amount) {
    std::int64_t most = 0;
    for (const auto* node : nodes) most = std::max(most, node->allocatable.of(name));
    if (most < amount && small.empty())
      small = "the largest node has " + amount_text(name, most) + ", a worker asks for " +
              amount_text(name, amount);
  });
  if (!small.empty()) return small;
  const bool one = std::ranges::any_of(
      nodes, [&](const PoolNode* node) { return pods_that_fit(node->allocatable, {}, needs.requests) > 0; });
  return one ? "" : "no node has all that a worker asks for: " + all_requests(needs);
}

}  // namespace

std::optional<Verdict> unmet_by_all(const std::string& pool, const std::vector<const PoolNode*>& nodes,
                                    const NodeNeeds& needs) {
  if (nodes.empty() || !needs.narrow()) return std::nullopt;
  const auto left = suited(nodes, needs);
  if (left.empty() && !suited(nodes, {.labels = needs.labels, .terms = needs.terms}).empty())
    return Verdict{{}, reason::kPriceTooHigh, "no node of pool " + pool + " costs " + needs.price.text};
  if (left.empty()) {
    return Verdict{
        {}, reason::kNoMatchingNode, "no node of pool " + pool + " " + unmet_selection(nodes, needs)};
  }
  const auto small = unmet_requests(left, needs);
  if (small.empty()) return std::nullopt;
  const auto* const of = left.size() < nodes.size() ? ", on the nodes that spec.template allows: " : ": ";
  return Verdict{{}, reason::kTooLarge, "pool " + pool + of + small};
}

std::optional<Verdict> unmet_by_named(const PoolNode& node, const NodeNeeds& needs) {
  const auto unmet = unmet_need(node, needs);
  if (unmet.empty()) return std::nullopt;
  const bool expensive = suits(node, {.labels = needs.labels, .terms = needs.terms}) && !suits(node, needs);
  return Verdict{{},
                 expensive            ? reason::kPriceTooHigh
                 : suits(node, needs) ? reason::kTooLarge
                                      : reason::kNoMatchingNode,
                 std::string("node ").append(node.name).append(" of spec.nodes ").append(unmet)};
}

}  // namespace gpupool::planning
