// SPDX-License-Identifier: Apache-2.0
// Jobs whose account cannot pay.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/reasons.h"
#include "tests/unit/job-life/nothing_left.h"
#include "tests/unit/job-life/world.h"

namespace gpupool::planning {
namespace {

using test::Ending;
using test::World;
using testing::IsEmpty;
namespace phase = api::phase;

const api::Problem kNoMoney{api::reason::kBudgetExhausted, "nothing is left"};

class FundsTest : public testing::Test {
 protected:
  FundsTest() {
    world_.set_prices();
    world_.ending = [this](std::int64_t, std::int64_t) { return ends_ ? Ending::kSuccess : Ending::kNever; };
  }
  bool reaches(const std::string& wanted, const std::string& reason) {
    return world_.run(
        [&] { return world_.job.status.phase == wanted && world_.job.status.reason == reason; });
  }
  bool ends() {
    ends_ = true;
    return world_.run();
  }

  World world_{2, {"a", "b"}};
  bool ends_ = false;
};

TEST_F(FundsTest, ARefusedJobTakesNothingAndStartsLater) {
  world_.funds.problem = kNoMoney;
  ASSERT_TRUE(reaches(phase::kQueued, kNoMoney.reason));
  EXPECT_FALSE(world_.job.status.lease);
  EXPECT_EQ(world_.job.status.lease_sequence, 0);
  world_.funds = {};
  ASSERT_TRUE(world_.run([&] { return world_.running(); }));
  ASSERT_TRUE(ends());
  test::expect_nothing_left(world_);
}

TEST_F(FundsTest, WhatIsRefusedWhenTheNodesAreKnownTakesNothing) {
  world_.refuse_next = kNoMoney;
  ASSERT_TRUE(reaches(phase::kQueued, kNoMoney.reason));
  EXPECT_FALSE(world_.job.status.lease);
  ASSERT_TRUE(world_.run([&] { return world_.running(); }));
}

TEST_F(FundsTest, AStoppedGangGivesEverythingBackUnchargedAndGoesOn) {
  ASSERT_TRUE(world_.run([&] { return world_.running(); }));
  world_.funds = {kNoMoney, true};
  ASSERT_TRUE(reaches(phase::kSuspended, kNoMoney.reason));
  ASSERT_TRUE(world_.run([&] { return !world_.job.status.lease; }));
  EXPECT_THAT(world_.job.status.bill()->open, IsEmpty());
  EXPECT_EQ(world_.job.status.failures, 0);
  EXPECT_EQ(world_.job.status.phase, phase::kSuspended);
  world_.funds = {};
  ASSERT_TRUE(world_.run([&] { return world_.running(); }));
  ASSERT_TRUE(ends());
  test::expect_nothing_left(world_);
  EXPECT_THAT(world_.broken, IsEmpty());
}

TEST_F(FundsTest, WithRefuseARunningJobGoesOn) {
  ASSERT_TRUE(world_.run([&] { return world_.running(); }));
  world_.funds = {kNoMoney, false};
  ASSERT_TRUE(ends());
  EXPECT_EQ(world_.job.status.phase, phase::kSucceeded);
}

TEST_F(FundsTest, WhoIsSuspendedByHandStaysSo) {
  world_.funds = {kNoMoney, true};
  ASSERT_TRUE(reaches(phase::kQueued, kNoMoney.reason));
  world_.change_spec([](auto& spec) { spec.suspend = true; });
  ASSERT_TRUE(reaches(phase::kSuspended, api::reason::kSuspended));
  world_.funds = {};
  ASSERT_TRUE(reaches(phase::kSuspended, api::reason::kSuspended));
}

}  // namespace
}  // namespace gpupool::planning
