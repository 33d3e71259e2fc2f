// SPDX-License-Identifier: Apache-2.0
#include "planning/nodes/node_needs.h"

#include <algorithm>

#include "planning/nodes/label_match.h"

namespace gpupool::planning {
namespace {

bool has_label(const PoolNode& node, const std::pair<std::string, std::string>& label) {
  const auto& labels = node.labels();
  const auto found = labels.find(label.first);
  return found != labels.end() && found->second == label.second;
}

bool matches_term(const PoolNode& node, const api::TemplateNodeTerm& term) {
  const auto& labels = node.labels();
  const Labels fields = {{"metadata.name", node.name}};  // the only field that Kubernetes allows
  return std::ranges::all_of(term.match_expressions, [&](const auto& each) { return meets(labels, each); }) &&
         std::ranges::all_of(term.match_fields, [&](const auto& each) { return meets(fields, each); });
}

bool in_affinity(const PoolNode& node, const NodeNeeds& needs) {
  return needs.terms.empty() ||
         std::ranges::any_of(needs.terms, [&](const auto& term) { return matches_term(node, term); });
}

// The required terms; none if one of them matches every node.
std::vector<api::TemplateNodeTerm> terms_of(const base::json::RawJson& affinity) {
  if (affinity.empty()) return {};
  auto parsed = base::json::read<api::TemplateAffinity>(affinity.text);
  if (!parsed) return {};
  auto& terms = parsed->node_affinity.required.node_selector_terms;
  const bool any = std::ranges::any_of(
      terms, [](const auto& term) { return term.match_expressions.empty() && term.match_fields.empty(); });
  return any ? std::vector<api::TemplateNodeTerm>() : std::move(terms);
}

}  // namespace

NodeNeeds needs_of(const api::GpuJobSpec& job, const std::string& gpu_resource) {
  auto parsed = base::json::read<api::PodTemplate>(job.pod_template.text);
  if (!parsed) return {};
  auto& spec = parsed->spec;
  NodeNeeds needs;
  needs.tolerations = std::move(spec.tolerations);
  for (auto& [key, value] : spec.node_selector) needs.labels.emplace_back(key, std::move(value));
  needs.terms = terms_of(spec.affinity);
  if (job.results) {
    auto& carry = spec.containers.emplace_back().resources.requests;
    carry["cpu"].text = std::to_string(kResultsMilliCpu) + "m";
    carry["memory"].text = std::to_string(kResultsMebibytes) + "Mi";
  }
  needs.requests = requests_of(spec.containers, spec.init_containers);
  needs.requests.set(gpu_resource, 0);
  return needs;
}

bool suits(const PoolNode& node, const NodeNeeds& needs) {
  return std::ranges::all_of(needs.labels, [&](const auto& label) { return has_label(node, label); }) &&
         in_affinity(node, needs) && needs.price.allows(node.model);
}

std::int64_t fewer_slots(const PoolNode& node, std::int64_t by_gpus, const NodeNeeds& needs) {
  if (by_gpus == 0 || !suits(node, needs)) return 0;
  return std::min(by_gpus, pods_that_fit(node.allocatable, node.held_by_foreign(), needs.requests));
}

std::string unmet_need(const PoolNode& node, const NodeNeeds& needs) {
  for (const auto& label : needs.labels) {
    if (!has_label(node, label)) {
      return "has no label " + label.first + "=" + label.second +
             ", which spec.template.spec.nodeSelector asks for";
    }
  }
  if (!in_affinity(node, needs)) return "does not meet spec.template.spec.affinity.nodeAffinity";
  if (!needs.price.allows(node.model)) return "does not cost " + needs.price.text;
  std::string small;
  needs.requests.each([&](std::string_view name, std::int64_t amount) {
    const auto has = node.allocatable.of(name);
    if (has < amount && small.empty())
      small = "has " + amount_text(name, has) + ", a worker asks for " + amount_text(name, amount);
  });
  return small;
}

}  // namespace gpupool::planning
