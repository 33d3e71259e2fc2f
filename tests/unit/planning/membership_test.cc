// SPDX-License-Identifier: Apache-2.0
#include "planning/nodes/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using test::make_node;
using test::make_pool;
using test::share;
using testing::ElementsAre;
using testing::IsEmpty;
using Labels = std::map<std::string, std::string>;

api::LabelSelector expression(const std::string& op, const std::vector<std::string>& values) {
  return {{}, {{"k", op, values}}};
}

std::vector<std::string> names(const Members& members) {
  std::vector<std::string> all;
  for (const auto& node : members.nodes) all.push_back(node->metadata.name);
  return all;
}

// Returns the members by name of the pool.
std::map<std::string, Members> assign_members(const std::vector<std::shared_ptr<const api::GpuPool>>& pools,
                                              const std::vector<std::shared_ptr<const api::Node>>& nodes) {
  const Membership membership(pools);
  std::map<std::string, Members> members;
  for (const auto& pool : pools) members[pool->metadata.name];
  for (const auto& node : nodes) {
    const auto found = membership.of(*node);
    if (found.pool) members[found.pool->metadata.name].nodes.push_back(node);
    for (const auto& exclusion : found.excluded) {
      auto& mine = members[exclusion.pool];
      mine.excluded.push_back({node->metadata.name, exclusion.why});
      mine.in_older_pool = mine.in_older_pool || exclusion.older_pool;
    }
  }
  return members;
}

TEST(Selects, FollowsLabelSelectors) {
  EXPECT_TRUE(selects({}, {}));
  EXPECT_TRUE(selects({{{"k", "v"}}, {}}, {{"k", "v"}, {"x", "y"}}));
  EXPECT_FALSE(selects({{{"k", "v"}}, {}}, {{"k", "w"}}));
  EXPECT_TRUE(selects(expression("In", {"v", "w"}), {{"k", "w"}}));
  EXPECT_FALSE(selects(expression("In", {"v"}), {}));
  EXPECT_FALSE(selects(expression("NotIn", {"v"}), {{"k", "v"}}));
  EXPECT_TRUE(selects(expression("NotIn", {"v"}), {})) << "as Kubernetes does";
  EXPECT_TRUE(selects(expression("Exists", {}), {{"k", ""}}));
  EXPECT_FALSE(selects(expression("Exists", {}), {}));
  EXPECT_TRUE(selects(expression("DoesNotExist", {}), {}));
  EXPECT_FALSE(selects(expression("DoesNotExist", {}), {{"k", ""}}));
}

TEST(CheckSelector, NamesWhatIsWrong) {
  EXPECT_EQ(check_selector(expression("In", {"v"})), "");
  EXPECT_NE(check_selector(expression("In", {})), "");
  EXPECT_NE(check_selector(expression("Exists", {"v"})), "");
  EXPECT_NE(check_selector(expression("Gt", {"1"})), "");
}

TEST(CheckPattern, NamesWhatIsWrong) {
  EXPECT_EQ(check_pattern("^gpu-[0-9]+$"), "");
  EXPECT_NE(check_pattern("gpu-["), "");
  EXPECT_NE(check_pattern("((((x{1000}){1000}){1000}){1000})"), "") << "would need gigabytes";
}

TEST(AssignMembers, ReportsNodesWhoseNameDoesNotMatch) {
  auto pool = make_pool();
  pool.spec.node_name_pattern = "^gpu-";
  const auto members = assign_members({share(pool)}, {share(make_node("cpu-1")), share(make_node("gpu-1"))});
  EXPECT_THAT(names(members.at("lab")), ElementsAre("gpu-1"));
  ASSERT_EQ(members.at("lab").excluded.size(), 1U);
  EXPECT_EQ(members.at("lab").excluded[0].name, "cpu-1");
  EXPECT_FALSE(members.at("lab").in_older_pool);
}

// An engine that backtracks would need exponential time, and this test would not end.
TEST(AssignMembers, PatternMadeToBacktrackIsHarmless) {
  auto pool = make_pool();
  pool.spec.node_name_pattern = "^(a+)+$";
  const auto members = assign_members({share(pool)}, {share(make_node(std::string(200, 'a') + "b"))});
  EXPECT_THAT(members.at("lab").nodes, IsEmpty());
}

TEST(AssignMembers, BrokenPoolOwnsNothingAndHindersNobody) {
  auto broken = make_pool("broken");
  broken.spec.node_name_pattern = "(";
  auto odd = make_pool("odd");
  odd.spec.node_selector = expression("Gt", {"1"});
  auto young = make_pool("young");
  young.metadata.creation_timestamp = test::at(9);
  const auto members = assign_members({share(broken), share(odd), share(young)}, {share(make_node("a"))});
  EXPECT_THAT(members.at("broken").nodes, IsEmpty());
  EXPECT_THAT(members.at("odd").nodes, IsEmpty());
  EXPECT_THAT(names(members.at("young")), ElementsAre("a"));
}

TEST(AssignMembers, NodeOfTwoPoolsBelongsToTheOlder) {
  auto young = make_pool("aaa");
  young.metadata.creation_timestamp = test::at(9);
  const auto members = assign_members({share(young), share(make_pool("old"))}, {share(make_node("a"))});
  EXPECT_THAT(names(members.at("old")), ElementsAre("a"));
  EXPECT_THAT(members.at("aaa").nodes, IsEmpty());
  EXPECT_TRUE(members.at("aaa").in_older_pool);
  EXPECT_THAT(members.at("aaa").excluded,
              ElementsAre(api::ExcludedNode{"a", "belongs to the older pool old"}));
}

}  // namespace
}  // namespace gpupool::planning
