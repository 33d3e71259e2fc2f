#include <memory>

#include "planning/membership.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace api = gpupool::api;
namespace planning = gpupool::planning;

// spec.nodeNamePattern, then names of nodes, a line each.
void fuzz_node_pattern(std::string_view input) {
  auto pool = std::make_shared<api::GpuPool>();
  pool->metadata.name = "lab";
  pool->spec.node_name_pattern = gpupool::fuzz::take_line(input);
  std::vector<std::shared_ptr<const api::Node>> nodes;
  for (const auto& name : gpupool::fuzz::split(input, '\n')) {
    auto node = std::make_shared<api::Node>();
    node->metadata.name = name + "-" + std::to_string(nodes.size());  // names are unique
    nodes.push_back(std::move(node));
  }
  const auto problem = planning::check_pattern(pool->spec.node_name_pattern);
  const auto all = planning::assign_members({pool}, nodes);
  const auto found = all.find("lab");
  require(found != all.end(), "every pool has an answer");
  const auto& members = found->second;
  if (!problem.empty()) return require(members.nodes.empty(), "a pattern that does not compile owns nothing");
  require(members.nodes.size() + members.excluded.size() == nodes.size(), "each node is in or out");
  for (const auto& node : members.nodes) {
    require(planning::pool_of({pool}, node) == pool, "one node alone is judged as among others");
  }
}
