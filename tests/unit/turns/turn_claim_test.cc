// SPDX-License-Identifier: Apache-2.0
// Who makes room for whom.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/reasons.h"
#include "tests/unit/turns/turn_world.h"

namespace gpupool::planning {
namespace {

using test::at;
using test::TurnWorld;
using testing::ElementsAre;
using testing::HasSubstr;
namespace reason = api::reason;

constexpr std::int64_t kAnHour = 3600;

api::PoolQueueSpec tenants(std::vector<api::QueueTenant> listed) {
  api::PoolQueueSpec spec;
  spec.tenants = std::move(listed);
  return spec;
}

api::PoolQueueSpec owner_of(std::int64_t gpus) { return tenants({{"owner", {"owner"}, 1, gpus, {}, {}}}); }

// All claims of a world.
struct Claims {
  explicit Claims(TurnWorld& world) {
    world.on_claim = [this](const TurnWorld::Claim& claim) { all.push_back(claim); };
  }
  std::vector<TurnWorld::Claim> all;
};

TEST(TurnClaims, AGuaranteeGetsItsNodesBack) {
  TurnWorld world(owner_of(2), 3);
  Claims claims(world);
  for (const auto* name : {"g1", "g2", "g3"}) world.submit(name, {.ns = "guest", .saves = true});
  world.advance(kAnHour);
  world.submit("mine", {.ns = "owner", .workers = 2});
  EXPECT_TRUE(world.waits("mine")) << "it has not waited yet";
  world.advance(10);
  EXPECT_TRUE(world.runs("mine"));
  ASSERT_EQ(claims.all.size(), 1U);
  EXPECT_EQ(claims.all[0].victims.size(), 2U);
  const auto& verdict = claims.all[0].verdict;
  EXPECT_EQ(verdict.reason, reason::kWaitingForYield);
  EXPECT_EQ(verdict.message,
            "2 jobs make room for it: guest/g1, guest/g2; tenant owner is within its guarantee");
  EXPECT_EQ(verdict.claim->until, at(world.now() + 60));
}

TEST(TurnClaims, NobodyYieldsWithinTheGuard) {
  TurnWorld world(owner_of(1), 1);
  world.submit("guest", {.ns = "guest", .saves = true});
  world.submit("mine", {.ns = "owner"});
  world.advance(599);
  EXPECT_TRUE(world.runs("guest"));
  world.advance(1);
  EXPECT_TRUE(world.runs("mine")) << "the plan looks again by itself";
  EXPECT_TRUE(world.waits("guest"));
}

TEST(TurnClaims, TheGuardGrowsWithEachYield) {
  auto spec = owner_of(1);
  TurnWorld world(spec, 1);
  world.submit("guest", {.ns = "guest", .saves = true});
  world.advance(600);
  world.submit("m1", {.ns = "owner", .runs = 10});
  world.advance(20);
  EXPECT_EQ(world.yields("guest"), 1);
  world.submit("m2", {.ns = "owner", .runs = 10});
  world.advance(1000);
  EXPECT_EQ(world.yields("guest"), 1);
  world.advance(300);
  EXPECT_EQ(world.yields("guest"), 2);
}

TEST(TurnClaims, WithoutACheckpointOnlyIfNoOthersSuffice) {
  TurnWorld world(owner_of(2), 2);
  Claims claims(world);
  world.submit("loses", {.ns = "guest", .preemptible = true});
  world.submit("saves", {.ns = "guest", .saves = true});
  world.advance(kAnHour);
  world.submit("one", {.ns = "owner"});
  world.advance(10);
  ASSERT_EQ(claims.all.size(), 1U);
  EXPECT_THAT(claims.all[0].victims, ElementsAre("saves"));
  world.submit("two", {.ns = "owner"});
  world.advance(10);
  ASSERT_EQ(claims.all.size(), 2U);
  EXPECT_THAT(claims.all[1].victims, ElementsAre("loses"));
}

TEST(TurnClaims, OthersThatAreCoveredStay) {
  auto spec = owner_of(1);
  spec.tenants.push_back({"b", {"b"}, 1, 1, {}, {}});
  TurnWorld world(spec, 2);
  Claims claims(world);
  world.submit("covered", {.ns = "b", .saves = true});
  world.advance(1);
  world.submit("more", {.ns = "b", .saves = true});
  world.advance(kAnHour);
  world.submit("mine", {.ns = "owner"});
  world.advance(kAnHour);
  ASSERT_EQ(claims.all.size(), 1U);
  EXPECT_THAT(claims.all[0].victims, ElementsAre("more"));
}

TEST(TurnClaims, AHigherPriorityOfTheTenant) {
  TurnWorld world(tenants({}), 2);
  Claims claims(world);
  world.submit("low", {.ns = "a", .priority = 1, .saves = true});
  world.submit("other", {.ns = "b", .saves = true});
  world.advance(kAnHour);
  world.submit("same", {.ns = "a", .priority = 1});
  world.advance(kAnHour);
  EXPECT_TRUE(claims.all.empty());
  world.submit("high", {.ns = "a", .priority = 2});
  world.advance(10);
  ASSERT_EQ(claims.all.size(), 1U);
  EXPECT_THAT(claims.all[0].victims, ElementsAre("low"));
  EXPECT_THAT(claims.all[0].verdict.message, HasSubstr("; its priority is higher"));
}

// Its tenant has no more afterwards: free nodes and those of others are not taken.
TEST(TurnClaims, AHigherPriorityOfATenantThatHasReachedItsLimit) {
  for (const std::int64_t wanted : {2, 3}) {
    TurnWorld world(tenants({{"a", {"a"}, 1, 0, 2, {}}}), 5);
    Claims claims(world);
    world.submit("low", {.ns = "a", .priority = 1, .saves = true});
    world.submit("lower", {.ns = "a", .saves = true});
    world.submit("other", {.ns = "b", .saves = true});
    world.advance(kAnHour);
    world.submit("same", {.ns = "a", .priority = 1});
    world.submit("high", {.ns = "a", .workers = wanted, .priority = 2});
    world.advance(10);
    if (wanted == 3) {
      EXPECT_EQ(world.verdict("high").reason, reason::kLimitReached);
      ASSERT_EQ(claims.all.size(), 1U);
      EXPECT_THAT(claims.all[0].victims, ElementsAre("lower")) << "for the job of the same priority as low";
      continue;
    }
    ASSERT_EQ(claims.all.size(), 1U);
    EXPECT_THAT(claims.all[0].victims, testing::UnorderedElementsAre("low", "lower"));
    world.advance(600);
    EXPECT_TRUE(world.runs("high"));
    EXPECT_EQ(world.running(), 2U);
  }
}

TEST(TurnClaims, AShareOnlyIfThePoolSaysSo) {
  for (const bool on : {false, true}) {
    auto spec = tenants({});
    spec.yield.emplace().to_share = on;
    TurnWorld world(spec, 4);
    Claims claims(world);
    for (int i = 0; i < 4; ++i) world.submit("m" + std::to_string(i), {.ns = "much", .saves = true});
    world.advance(kAnHour);
    world.submit("one", {.ns = "little"});
    world.advance(1799);
    EXPECT_TRUE(claims.all.empty());
    world.advance(1);
    EXPECT_EQ(world.runs("one"), on);
    EXPECT_EQ(claims.all.size(), on ? 1U : 0U);
    if (on) {
      EXPECT_THAT(claims.all[0].verdict.message, HasSubstr("tenant little has had less than its share"));
    }
  }
}

TEST(TurnClaims, TheCheapestJobThatSufficesAlone) {
  TurnWorld world(owner_of(2), 6);
  Claims claims(world);
  world.submit("three", {.ns = "guest", .workers = 3, .saves = true});
  world.submit("two", {.ns = "guest", .workers = 2, .saves = true});
  world.submit("one", {.ns = "guest", .saves = true});
  world.advance(kAnHour);
  world.submit("mine", {.ns = "owner", .workers = 2});
  world.advance(10);
  ASSERT_EQ(claims.all.size(), 1U);
  EXPECT_THAT(claims.all[0].victims, ElementsAre("two"));
}

TEST(TurnClaims, WithoutHoldersThatMakeRoomNothingChanges) {
  TurnWorld world(owner_of(2), 2);
  world.submit("a", {.ns = "guest"});
  world.submit("b", {.ns = "guest"});
  world.submit("mine", {.ns = "owner", .workers = 2});
  world.advance(kAnHour);
  EXPECT_TRUE(world.waits("mine"));
  EXPECT_FALSE(world.state().turns()->plan()->look_again());
}

TEST(TurnClaims, APriorityDoesNotTakeWhatTheFirstInLineWasPromised) {
  TurnWorld world(owner_of(2), 2);
  Claims claims(world);
  world.submit("low", {.ns = "owner", .deadline = kAnHour, .runs = kAnHour, .saves = true});
  world.submit("other", {.ns = "guest", .deadline = kAnHour, .runs = kAnHour});
  world.submit("gang", {.ns = "b", .workers = 2, .runs = 10});
  world.advance(1000);
  world.submit("high", {.ns = "owner", .priority = 1});
  world.advance(1000);
  EXPECT_TRUE(claims.all.empty());
  EXPECT_TRUE(world.runs("low"));
}

TEST(TurnClaims, ALimitCountsWholeNodes) {
  for (const std::int64_t limit : {15, 16}) {
    auto spec = tenants({{"owner", {"owner"}, 9, 0, limit, {}}});
    spec.yield.emplace().to_share = true;
    TurnWorld world(spec, 6, 8);
    Claims claims(world);
    world.submit("has", {.ns = "owner"});
    for (int i = 0; i < 5; ++i) world.submit("g" + std::to_string(i), {.ns = "guest", .saves = true});
    world.advance(2 * kAnHour);
    world.submit("mine", {.ns = "owner"});
    world.advance(kAnHour);
    EXPECT_EQ(claims.all.size(), limit == 16 ? 1U : 0U);
  }
}

TEST(TurnClaims, AGuaranteeCountsWholeNodes) {
  for (const std::int64_t guaranteed : {7, 8}) {
    TurnWorld world(owner_of(guaranteed), 1, 8);
    Claims claims(world);
    world.submit("guest", {.ns = "guest", .workers = 8, .saves = true});
    world.advance(kAnHour);
    world.submit("mine", {.ns = "owner"});
    world.advance(kAnHour);
    EXPECT_EQ(claims.all.size(), guaranteed == 8 ? 1U : 0U);
  }
}

TEST(TurnClaims, TheLessAStopCostsTheSooner) {
  TurnWorld world(owner_of(1), 2);
  Claims claims(world);
  world.submit("long", {.ns = "guest", .preemptible = true});
  world.advance(kAnHour);
  world.submit("short", {.ns = "guest", .preemptible = true});
  world.advance(kAnHour);
  world.submit("mine", {.ns = "owner"});
  world.advance(10);
  ASSERT_EQ(claims.all.size(), 1U);
  EXPECT_THAT(claims.all[0].victims, ElementsAre("short"));
}

TEST(TurnClaims, NodesThatAreClaimedAreNobodyElses) {
  TurnWorld world(owner_of(2), 2);
  world.ending_seconds = 30;
  world.submit("guest", {.ns = "guest", .workers = 2, .saves = true});
  world.advance(kAnHour);
  world.submit("m1", {.ns = "owner"});
  world.submit("m2", {.ns = "owner"});
  world.advance(10);
  EXPECT_FALSE(world.waits("m1"));
  EXPECT_FALSE(world.runs("m1"));
  EXPECT_TRUE(world.waits("m2")) << "the other node is still held by a job that makes room";
  world.advance(30);
  EXPECT_TRUE(world.runs("m1"));
  EXPECT_TRUE(world.runs("m2"));
}

}  // namespace
}  // namespace gpupool::planning
