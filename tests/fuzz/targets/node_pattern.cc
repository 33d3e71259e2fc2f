// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "planning/nodes/membership.h"
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
  const planning::Membership membership({pool});
  for (const auto& node : nodes) {
    const auto found = membership.of(*node);
    if (problem.empty()) {
      require((found.pool == pool) != (found.excluded.size() == 1), "each node is in or out");
    } else {
      require(found.pool == nullptr && found.excluded.empty(),
              "a pattern that does not compile owns nothing");
    }
  }
}
