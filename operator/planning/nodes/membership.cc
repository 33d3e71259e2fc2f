// SPDX-License-Identifier: Apache-2.0
#include "planning/nodes/membership.h"

#include <re2/re2.h>
#include <algorithm>

#include "planning/nodes/label_match.h"

namespace gpupool::planning {
namespace {

// Bytes; enough for any sensible name pattern. RE2 refuses patterns that need more.
constexpr std::int64_t kPatternMemory = 1 << 20;

RE2::Options quiet_options() {
  RE2::Options options(RE2::Quiet);
  options.set_max_mem(kPatternMemory);
  return options;
}

bool older(const std::shared_ptr<const api::GpuPool>& a, const std::shared_ptr<const api::GpuPool>& b) {
  const auto age = [](const api::GpuPool& pool) {
    return std::make_pair(pool.metadata.creation_timestamp.value_or(base::WallTime::max()),
                          pool.metadata.uid);
  };
  return age(*a) < age(*b);
}

}  // namespace

std::string check_selector(const api::LabelSelector& selector) {
  for (const auto& requirement : selector.match_expressions) {
    const bool needs_values = requirement.op == "In" || requirement.op == "NotIn";
    const bool known = needs_values || requirement.op == "Exists" || requirement.op == "DoesNotExist";
    if (!known) return "matchExpressions: \"" + requirement.op + "\" is not a valid operator";
    if (needs_values == requirement.values.empty()) {
      return "matchExpressions: " + requirement.op + (needs_values ? " needs values" : " takes no values");
    }
  }
  return {};
}

bool selects(const api::LabelSelector& selector, const std::map<std::string, std::string>& labels) {
  for (const auto& [key, value] : selector.match_labels) {
    const auto found = labels.find(key);
    if (found == labels.end() || found->second != value) return false;
  }
  return std::all_of(selector.match_expressions.begin(), selector.match_expressions.end(),
                     [&](const auto& requirement) { return meets(labels, requirement); });
}

std::string check_pattern(const std::string& pattern) {
  const RE2 compiled(pattern, quiet_options());
  return compiled.ok() ? std::string() : compiled.error();
}

struct Membership::Rule {
  std::shared_ptr<const api::GpuPool> pool;
  std::unique_ptr<RE2> pattern;  // null: any name
};

Membership::Membership(const std::vector<std::shared_ptr<const api::GpuPool>>& pools) {
  auto by_age = pools;
  std::sort(by_age.begin(), by_age.end(), older);
  for (const auto& pool : by_age) {
    if (!check_selector(pool->spec.node_selector).empty()) continue;
    std::unique_ptr<RE2> pattern;
    if (const auto& text = pool->spec.node_name_pattern; !text.empty()) {
      pattern = std::make_unique<RE2>(text, quiet_options());
      if (!pattern->ok()) continue;
    }
    rules_.push_back({pool, std::move(pattern)});
  }
}

Membership::~Membership() = default;
Membership::Membership(Membership&&) noexcept = default;

NodeMembership Membership::of(const api::Node& node) const {
  NodeMembership found;
  for (const auto& rule : rules_) {
    const auto& name = rule.pool->metadata.name;
    if (!selects(rule.pool->spec.node_selector, node.metadata.labels)) continue;
    if (rule.pattern && !RE2::PartialMatch(node.metadata.name, *rule.pattern)) {
      found.excluded.push_back({name, "name does not match spec.nodeNamePattern"});
    } else if (found.pool) {
      found.excluded.push_back({name, "belongs to the older pool " + found.pool->metadata.name, true});
    } else {
      found.pool = rule.pool;
    }
  }
  return found;
}

}  // namespace gpupool::planning
