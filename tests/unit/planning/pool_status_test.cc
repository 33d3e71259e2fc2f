// SPDX-License-Identifier: Apache-2.0
#include "planning/pool/pool_status.h"
#include "planning/nodes/pool_validation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "api/v1alpha1/status_json.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class SharedStatus : public testing::Test {
 protected:
  SharedStatus() {
    for (const auto* name : {"a", "b"}) {
      members_.push_back(test::make_shared_member(name, 20));
      reports_.push_back(test::make_report(name, 2));
    }
  }
  api::GpuPoolStatus status() const {
    std::vector<SharedNode> nodes;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      nodes.push_back(describe_shared_node(members_[i], &reports_[i], pool_, occupants_));
    }
    return make_pool_status(pool_, {}, nodes, {}, test::at(0));
  }

  api::GpuPool pool_ = test::make_sharing_pool();
  std::vector<api::Node> members_;
  std::vector<api::GpuNode> reports_;
  Occupants occupants_;
};

TEST_F(SharedStatus, CountsSlicesAndGpus) {
  test::show_pod(reports_[0], 1, "pod", 10);
  const auto counted = status();
  EXPECT_EQ(counted.slices, (api::PoolSliceCounts{40, 30}));
  EXPECT_EQ(counted.gpus.total, 4);
  EXPECT_EQ(counted.gpus.leased, 1);
  EXPECT_EQ(counted.gpus.available, 3);
  EXPECT_EQ(counted.nodes.leased, 1);
  EXPECT_EQ(counted.nodes.available, 2);
  EXPECT_THAT(counted.gpus.models, ElementsAre(api::PoolGpuModel{"A", 4, "16000Mi"}));
  EXPECT_THAT(counted.excluded, IsEmpty());
}

TEST_F(SharedStatus, WhatIsReservedIsNotFree) {
  occupants_.reserved = {3};
  EXPECT_EQ(status().slices->free, 40 - 2 * 3) << "on each node here";
}

TEST_F(SharedStatus, NothingIsFreeOnNodesThatCannotBeUsed) {
  members_[0].spec.unschedulable = true;
  EXPECT_EQ(status().slices, (api::PoolSliceCounts{40, 20}));
  EXPECT_EQ(status().nodes.available, 1);
  members_[1].metadata.annotations[api::kDrain] = "";
  EXPECT_EQ(status().slices, (api::PoolSliceCounts{40, 0}));
  EXPECT_EQ(status().nodes.available, 0);
  EXPECT_EQ(status().nodes.cordoned, 2);
}

TEST_F(SharedStatus, SaysWhichGpusAreLeftOut) {
  reports_[1].status.gpus[0].health = "Unhealthy";
  reports_[1].status.gpus[0].reason = "Xid79";
  reports_[0].status.gpus.clear();
  reports_[0].status.message = "no driver";
  const auto counted = status();
  EXPECT_EQ(counted.slices, (api::PoolSliceCounts{10, 10}));
  EXPECT_THAT(counted.excluded, ElementsAre(api::ExcludedNode{"a", "no driver"},
                                            api::ExcludedNode{"b", "GPU 0 is not healthy: Xid79"}));
}

class ExclusiveReadiness : public testing::Test {
 protected:
  api::GpuPoolStatus status() const {
    std::vector<PoolNode> nodes;
    for (const auto& node : nodes_) nodes.push_back(describe_node(node, pool_.spec.gpus.resource_name));
    return make_pool_status(pool_, members_, nodes, {}, test::at(0));
  }
  api::Condition ready() const { return *api::find_condition(status().conditions, "Ready"); }
  std::string why() const { return ready().status == "False" ? ready().message.string() : "ready"; }

  api::GpuPool pool_ = test::make_pool();
  Members members_;
  std::vector<api::Node> nodes_;
};

TEST_F(ExclusiveReadiness, CountsNodes) {
  nodes_ = {test::make_node("a", 2)};
  EXPECT_EQ(ready().message, "1 node");
  nodes_.push_back(test::make_node("b", 0));
  EXPECT_EQ(ready().message, "2 nodes");
  EXPECT_EQ(ready().status, "True");
}

TEST_F(ExclusiveReadiness, CountsSparesApart) {
  for (const auto* name : {"a", "b", "c"}) nodes_.push_back(test::make_node(name, 2));
  pool_.spec.spares.emplace().nodes = 1;
  auto counted = status();
  EXPECT_EQ(counted.nodes.spare, 1);
  EXPECT_EQ(counted.nodes.available, 2);
  EXPECT_EQ(counted.gpus.available, 4);
  nodes_[2].spec.unschedulable = true;
  nodes_[1].metadata.annotations[api::kDrain] = "";
  counted = status();
  EXPECT_EQ(counted.nodes.spare, 1) << "a";
  EXPECT_EQ(counted.nodes.available, 0);
  EXPECT_EQ(counted.nodes.cordoned, 2);
  pool_.spec.spares.reset();
  EXPECT_EQ(status().nodes.spare, 0);
  EXPECT_EQ(status().nodes.available, 1);
  EXPECT_EQ(api::status_update(pool_.metadata, status()).find("spare"), std::string::npos);
}

TEST_F(ExclusiveReadiness, NeedsANodeThatItsSelectorMatches) {
  pool_.spec.node_selector.match_labels = {{"pool", "lab"}, {"zone", "b"}};
  EXPECT_EQ(why(),
            "no node matches spec.nodeSelector (pool=lab,zone=b); to add one: kubectl label node NAME "
            "pool=lab zone=b");
  pool_.spec.node_selector.match_expressions = {{"gpu", "In", {"x", "y"}}, {"old", "DoesNotExist", {}}};
  EXPECT_EQ(why(), "no node matches spec.nodeSelector (pool=lab,zone=b,gpu in (x,y),!old)");
  EXPECT_EQ(ready().reason, api::reason::kNoMatchingNodes);
  pool_.spec.node_selector = {};
  EXPECT_EQ(why(), "the cluster has no nodes");
}

TEST_F(ExclusiveReadiness, NeedsANodeThatIsNotExcluded) {
  members_.excluded = {{"a", "belongs to the older pool lab"}};
  members_.in_older_pool = true;
  EXPECT_EQ(why(),
            "1 node matches spec.nodeSelector, and it cannot be used: a: belongs to the older pool lab");
  EXPECT_EQ(ready().reason, api::reason::kNodesInOlderPool);
}

TEST_F(ExclusiveReadiness, NeedsMatchingGpus) {
  nodes_ = {test::make_node("a", 0), test::make_shared_member("b", 20), test::make_node("c", 0),
            test::make_node("d", 0)};
  members_.excluded = {{"0", "name does not match spec.nodeNamePattern"}};
  EXPECT_EQ(why(),
            "4 nodes match spec.nodeSelector, and none can be used: a: has no allocatable nvidia.com/gpu; "
            "b: has no allocatable nvidia.com/gpu, but gpupool.dev/vgpu: its GPUs are cut into slices. Set "
            "spec.sharing.unit: Slice in the pool, or deviceSplitCount: 1 for the node in the device "
            "plugin's configuration; "
            "c: has no allocatable nvidia.com/gpu; and 1 more, see status.excluded");
  EXPECT_EQ(ready().reason, api::reason::kNoMatchingGpus);
  nodes_.push_back(test::make_node("e", 1));
  EXPECT_EQ(why(), "ready");
}

TEST_F(SharedStatus, IsReadyOnlyWithAReport) {
  const auto nodes = std::vector{describe_shared_node(members_[0], nullptr, pool_, {})};
  const auto status = make_pool_status(pool_, {}, nodes, {}, test::at(0));
  const auto* ready = api::find_condition(status.conditions, "Ready");
  EXPECT_EQ(ready->status, "False");
  EXPECT_EQ(ready->message,
            "1 node matches spec.nodeSelector, and it cannot be used: a: has no GpuNode report; does "
            "gpupool-device-plugin run there?");
}

TEST(ValidatePool, TheNameOfASharingPoolIsATaintValue) {
  EXPECT_EQ(validate_pool(test::make_sharing_pool(std::string(63, 'a'))), std::nullopt);
  EXPECT_EQ(validate_pool(test::make_sharing_pool(std::string(64, 'a')))->reason, api::reason::kInvalidSpec);
  EXPECT_EQ(validate_pool(test::make_pool(std::string(64, 'a'))), std::nullopt);
}

}  // namespace
}  // namespace gpupool::planning
