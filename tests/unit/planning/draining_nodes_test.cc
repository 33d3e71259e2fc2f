// SPDX-License-Identifier: Apache-2.0
#include "planning/pool/draining_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/status_json.h"
#include "base/rfc3339.h"
#include "planning/pool/pool_status.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class DrainsOf : public testing::Test {
 protected:
  PoolNode& add(const std::string& name, const std::optional<std::string>& drain) {
    auto node = test::make_node(name);
    if (drain) node.metadata.annotations[api::kDrain] = *drain;
    return add(node);
  }
  PoolNode& add(const api::Node& node) { return nodes_.emplace_back(test::make_pool_node(node)); }
  Drains drains() const {
    std::vector<const PoolNode*> all;
    for (const auto& node : nodes_) all.push_back(&node);
    return drains_of(all, holders_);
  }

  std::vector<PoolNode> nodes_;
  std::map<std::string, std::string> holders_;
};

TEST_F(DrainsOf, TellsWhichJobsHoldThem) {
  add("a", "2026-11-24T18:00:00Z");
  add("b", "2026-11-24T17:00:00Z");
  add("c", "");
  add("d", std::nullopt);
  holders_ = {{"a", "ns/one"}, {"c", "ns/two"}, {"d", "ns/three"}};
  const auto found = drains();
  const auto deadline = base::parse_rfc3339("2026-11-24T18:00:00Z");
  EXPECT_THAT(found.nodes, ElementsAre(api::DrainingNode{"a", "ns/one", deadline, ""},
                                       api::DrainingNode{"c", "ns/two", std::nullopt, ""}))
      << "nobody is on b, and d is not drained";
  EXPECT_EQ(found.held, 2);
  EXPECT_EQ(found.first_deadline, deadline) << "b is free";
}

TEST_F(DrainsOf, AWrongAnnotationIsToldThoughNobodyIsThere) {
  add("a", "tomorrow");
  const auto found = drains();
  ASSERT_EQ(found.nodes.size(), 1U);
  EXPECT_EQ(found.nodes[0].waits_for, "");
  EXPECT_THAT(found.nodes[0].problem, HasSubstr("tomorrow"));
  EXPECT_EQ(found.held, 0);
  EXPECT_FALSE(found.first_deadline);
}

TEST_F(DrainsOf, MarksOfAnUnknownJobCountToo) {
  auto node = test::make_node("a");
  node.metadata.annotations = {{api::kDrain, ""}, {api::kLease, "ns/gone"}};
  node.spec.taints = {{api::kLease, "uid.1", "NoSchedule"}};
  add(node);
  node.metadata.name = "b";
  node.metadata.annotations[api::kLease] = "\xff<script>";  // by the owner of the node
  add(node);
  const auto found = drains();
  EXPECT_THAT(found.nodes, ElementsAre(api::DrainingNode{"a", "ns/gone", std::nullopt, ""},
                                       api::DrainingNode{"b", "", std::nullopt, ""}));
  EXPECT_EQ(found.held, 2);
}

// The longest names, in the longest status of a pool.
TEST_F(DrainsOf, AStatusNamesTheFirstFiftyAndIsSmall) {
  for (int i = 0; i < 60; ++i) {
    const auto name = std::to_string(100 + i) + std::string(250, 'n');
    add(name, std::string(1000, '\n'));
    holders_[name] = std::string(63, 's') + "/" + std::string(253, 'j');
  }
  Members members;
  for (int i = 0; i < 60; ++i) members.excluded.push_back({std::string(253, 'x'), std::string(300, '"')});
  const PoolJobs jobs{{}, 0, drains().nodes};
  const auto status = make_pool_status(test::make_pool(), members, nodes_, jobs, test::at(0));
  ASSERT_EQ(status.draining.size(), 50U);
  EXPECT_EQ(status.draining.back().name.substr(0, 3), "149");
  EXPECT_EQ(status.draining[0].waits_for.size(), 128U);
  EXPECT_EQ(drains().held, 60);
  const auto text = api::status_update(test::make_pool().metadata, status);
  EXPECT_LT(text.size(), 128U * 1024);
  EXPECT_EQ(base::json::read<api::GpuPool>(text)->status.draining, status.draining) << "no write for ever";
}

TEST_F(DrainsOf, WithoutADrainTheStatusIsAsItWas) {
  add("a", std::nullopt);
  const auto status = make_pool_status(test::make_pool(), {}, nodes_, {{}, 0, drains().nodes}, test::at(0));
  EXPECT_THAT(status.draining, IsEmpty());
  EXPECT_THAT(api::status_update(test::make_pool().metadata, status),
              testing::AnyOf(testing::Not(HasSubstr("draining")), HasSubstr("\"draining\":null")));
}

}  // namespace
}  // namespace gpupool::planning
