// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/node_picker.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "tests/unit/planning/builders.h"
#include "tests/unit/planning/choose_once.h"

namespace gpupool::planning {
namespace {

using test::make_pool_node;
using Cost = std::pair<std::int64_t, std::int64_t>;  // GPUs, nodes

std::optional<std::vector<const PoolNode*>> choose(const std::vector<PoolNode>& nodes, std::int64_t workers,
                                                   std::int64_t per_worker, bool one_model = false) {
  std::vector<const PoolNode*> pointers;
  for (const auto& node : nodes) pointers.push_back(&node);
  return test::choose_once(pointers, workers, per_worker, one_model);
}

std::vector<std::string> names(const std::optional<std::vector<const PoolNode*>>& nodes) {
  std::vector<std::string> all;
  if (nodes) {
    for (const auto* node : *nodes) all.push_back(node->name);
  }
  return all;
}

// Tries every subset of the nodes: fewest GPUs, then fewest nodes.
std::optional<Cost> cheapest(const std::vector<PoolNode>& nodes, std::int64_t workers,
                             std::int64_t per_worker, bool one_model) {
  std::optional<Cost> best;
  for (unsigned subset = 1; subset < (1U << nodes.size()); ++subset) {
    std::int64_t slots = 0;
    std::set<std::string> models;
    Cost cost{0, 0};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if ((subset >> i & 1U) == 0) continue;
      slots += nodes[i].gpus / per_worker;
      models.insert(nodes[i].model);
      cost.first += nodes[i].gpus;
      ++cost.second;
    }
    if (slots < workers || (one_model && models.size() > 1)) continue;
    if (!best || cost < *best) best = cost;
  }
  return best;
}

std::vector<PoolNode> any_nodes() {
  const auto gpus = *rc::gen::resize(10, rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 9)));
  std::vector<PoolNode> nodes;
  for (const int count : gpus) {
    const auto* model = *rc::gen::element("A", "B");
    nodes.push_back(make_pool_node("n" + std::to_string(nodes.size()), count, model));
    if (nodes.size() == 10) break;
  }
  return nodes;
}

void expect_best(bool one_model) {
  const auto nodes = any_nodes();
  const std::int64_t workers = *rc::gen::inRange(1, 12);
  const std::int64_t per_worker = *rc::gen::inRange(1, 5);
  const auto chosen = choose(nodes, workers, per_worker, one_model);
  const auto best = cheapest(nodes, workers, per_worker, one_model);
  RC_ASSERT(chosen.has_value() == best.has_value());
  if (!chosen) return;
  std::int64_t slots = 0;
  Cost cost{0, 0};
  std::set<const PoolNode*> distinct;
  std::set<std::string> models;
  for (const auto* node : *chosen) {
    slots += worker_slots(*node, per_worker, {});
    cost = {cost.first + node->gpus, cost.second + 1};
    distinct.insert(node);
    models.insert(node->model);
  }
  RC_ASSERT(slots >= workers);
  RC_ASSERT(distinct.size() == chosen->size());
  if (one_model) RC_ASSERT(models.size() == 1U);
  RC_ASSERT(cost == *best);
}

TEST(WorkerSlots, CountsWholeWorkersOnly) {
  EXPECT_EQ(worker_slots(make_pool_node("n", 7), 2, {}), 3);
  EXPECT_EQ(worker_slots(make_pool_node("n", 1), 2, {}), 0);
}

TEST(NodePicker, TakesTheFirstNamesOfLikeNodes) {
  const std::vector<PoolNode> nodes = {make_pool_node("a", 2), make_pool_node("b", 2),
                                       make_pool_node("c", 2)};
  EXPECT_EQ(names(choose(nodes, 3, 1)), (std::vector<std::string>{"a", "b"}));
}

TEST(NodePicker, LeavesTheLargeNodeToThoseWhoNeedIt) {
  const std::vector<PoolNode> nodes = {make_pool_node("a", 8), make_pool_node("b", 1),
                                       make_pool_node("c", 1)};
  EXPECT_EQ(names(choose(nodes, 2, 1)), (std::vector<std::string>{"b", "c"}));
}

TEST(NodePicker, PrefersFewerNodesWhenNoGpuIdlesEitherWay) {
  const std::vector<PoolNode> nodes = {make_pool_node("a", 1), make_pool_node("b", 1),
                                       make_pool_node("c", 2)};
  EXPECT_EQ(names(choose(nodes, 2, 1)), (std::vector<std::string>{"c"}));
}

TEST(NodePicker, SaysNoWhenTheyDoNotFit) {
  const std::vector<PoolNode> nodes = {make_pool_node("a", 3), make_pool_node("b", 3)};
  EXPECT_FALSE(choose(nodes, 3, 2).has_value());
  EXPECT_FALSE(choose({}, 1, 1).has_value());
}

TEST(NodePicker, OneModelIsTheOneThatIdlesLeast) {
  const std::vector<PoolNode> nodes = {make_pool_node("a", 4, "A"), make_pool_node("b", 1, "B"),
                                       make_pool_node("c", 2, "B")};
  EXPECT_EQ(names(choose(nodes, 3, 1, true)), (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(names(choose(nodes, 4, 1, true)), (std::vector<std::string>{"a"}));
  EXPECT_FALSE(choose(nodes, 5, 1, true).has_value());
}

TEST(NodePicker, GivesWhatIsFreeWhenItIsAskedAndAllOnlyWhereToldTo) {
  auto leased = make_pool_node("a");
  leased.leased = true;
  const auto b = make_pool_node("b"), c = make_pool_node("c");
  std::vector<Candidate> nodes = {{&leased}, {&b}, {&c}};
  const std::vector<const Candidate*> candidates = {&nodes[0], &nodes[1], &nodes[2]};
  NodePicker free({}, candidates, 1, 1, {}, NodePicker::Of::kFree),
      all({}, candidates, 1, 1, {}, NodePicker::Of::kAll);
  EXPECT_EQ(names(free.next()), std::vector<std::string>{"b"});
  nodes[1].given = true;
  EXPECT_EQ(names(free.next()), std::vector<std::string>{"c"});
  nodes[2].kept = true;
  EXPECT_FALSE(free.next().has_value());
  for (int i = 0; i < 2; ++i) EXPECT_EQ(names(all.next()), std::vector<std::string>{"a"});
}

RC_GTEST_PROP(SupplyProperty, IsAsGoodAsTryingEverySubset, ()) { expect_best(false); }
RC_GTEST_PROP(SupplyProperty, OfOneModelIsAsGoodAsTryingEverySubset, ()) { expect_best(true); }

}  // namespace
}  // namespace gpupool::planning
