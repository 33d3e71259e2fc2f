#include "planning/pool_status.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/reasons.h"
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

TEST(ValidatePool, TheNameOfASharingPoolIsATaintValue) {
  EXPECT_EQ(validate_pool(test::make_sharing_pool(std::string(63, 'a'))), std::nullopt);
  EXPECT_EQ(validate_pool(test::make_sharing_pool(std::string(64, 'a')))->reason, api::reason::kInvalidSpec);
  EXPECT_EQ(validate_pool(test::make_pool(std::string(64, 'a'))), std::nullopt);
}

}  // namespace
}  // namespace gpupool::planning
