// SPDX-License-Identifier: Apache-2.0
#include "planning/queue/turn_plan.h"

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

TEST(Turns, WhoHasUsedLessComesFirst) {
  TurnWorld world(tenants({}), 1);
  world.submit("a1", {.ns = "a", .runs = 100});
  world.submit("a2", {.ns = "a", .runs = 100});
  world.advance(1);
  world.submit("b1", {.ns = "b", .runs = 100});
  world.advance(100);
  EXPECT_TRUE(world.waits("b1")) << "a2 was first in line already, and stays so";
  world.advance(100);
  EXPECT_TRUE(world.runs("b1"));
}

TEST(Turns, AWeightCounts) {
  TurnWorld world(tenants({{"heavy", {"heavy"}, 3, 0, {}, {}}, {"light", {"light"}, 1, 0, {}, {}}}), 8);
  for (int i = 0; i < 20; ++i) {
    world.submit("h" + std::to_string(i), {.ns = "heavy", .runs = 100});
    world.submit("l" + std::to_string(i), {.ns = "light", .runs = 100});
  }
  world.advance(100);
  EXPECT_THAT(world.held("heavy"), testing::AnyOf(6 * kMilli, 7 * kMilli))
      << "with the one that was first in line";
  EXPECT_EQ(world.held("heavy") + world.held("light"), 8 * kMilli);
}

TEST(Turns, AFloodOfOneTenantDoesNotShutOutAnother) {
  TurnWorld world(tenants({}), 4);
  for (int i = 0; i < 300; ++i) world.submit("flood" + std::to_string(i), {.ns = "many", .runs = kAnHour});
  world.advance(10);
  world.submit("one", {.ns = "few", .runs = kAnHour});
  world.advance(kAnHour);
  EXPECT_TRUE(world.runs("one"));
}

TEST(Turns, AGuaranteeComesFirst) {
  TurnWorld world(tenants({{"owner", {"owner"}, 1, 2, {}, {}}}), 2);
  world.submit("o0", {.ns = "owner", .runs = 10});  // it has used much already
  world.advance(10);
  world.submit("g1", {.ns = "guest", .runs = 100});
  world.submit("g2", {.ns = "guest", .runs = 50});
  world.submit("g3", {.ns = "guest", .runs = 100});
  world.submit("o1", {.ns = "owner", .runs = 100});
  world.advance(50);
  EXPECT_TRUE(world.runs("o1"));
  EXPECT_TRUE(world.waits("g3"));
}

TEST(Turns, ALimitHolds) {
  TurnWorld world(tenants({{"a", {"a"}, 1, 0, 2, {}}}), 4);
  for (int i = 0; i < 4; ++i) world.submit("j" + std::to_string(i), {.ns = "a", .runs = 100});
  EXPECT_EQ(world.held("a"), 2 * kMilli);
  EXPECT_EQ(world.verdict("j2").reason, reason::kLimitReached);
  EXPECT_EQ(world.verdict("j2").message,
            "tenant a may hold 2 GPUs of pool lab; with 1 more, for 1 worker with 1 GPU, it would hold more "
            "than that");
  world.submit("other", {.ns = "b", .runs = 100});
  EXPECT_TRUE(world.runs("other")) << "it holds up nobody";
}

TEST(Turns, ALimitCountsWholeNodes) {
  TurnWorld world(tenants({{"a", {"a"}, 1, 0, 10, {}}}), 2, 8);
  world.submit("first", {.ns = "a"});
  world.submit("second", {.ns = "a"});
  EXPECT_EQ(world.held("a"), 8 * kMilli) << "the job holds the whole node";
  EXPECT_EQ(world.verdict("second").reason, reason::kLimitReached);
}

TEST(Turns, ARefusedNamespaceWaitsForEver) {
  auto spec = tenants({{"a", {"a"}, 1, 0, {}, {}}});
  spec.others = api::QueueOthers{api::others_mode::kRefused, 1, {}};
  TurnWorld world(spec, 1);
  world.submit("stranger", {.ns = "elsewhere"});
  EXPECT_EQ(world.verdict("stranger").reason, reason::kTenantRefused);
  EXPECT_THAT(world.verdict("stranger").message, HasSubstr("no tenant for it"));
  world.submit("friend", {.ns = "a"});
  EXPECT_TRUE(world.runs("friend"));
}

TEST(Turns, PriorityCountsWithinATenantAlone) {
  auto spec = tenants({{"a", {"a"}, 1, 0, {}, 5}, {"b", {"b"}, 1, 0, {}, {}}});
  TurnWorld world(spec, 1);
  world.submit("runs", {.ns = "c", .runs = 100});
  world.submit("first", {.ns = "d", .runs = 100});
  world.submit("low", {.ns = "b", .runs = 100});
  world.advance(1);
  world.submit("higher", {.ns = "a", .runs = 100, .priority = 4});
  world.submit("highest", {.ns = "a", .runs = 100, .priority = 100});
  world.advance(199);
  EXPECT_TRUE(world.runs("low")) << "another tenant's priority is not its own";
  world.advance(100);
  EXPECT_TRUE(world.runs("highest"));
}

TEST(Turns, AShortJobComesBeforeALongOneOfTheTenant) {
  TurnWorld world(tenants({}), 1);
  world.submit("runs", {.ns = "x", .runs = 1000});
  world.submit("kept", {.ns = "y", .runs = 10});
  world.submit("long", {.ns = "a", .deadline = 86'400, .runs = 10});
  world.advance(100);
  world.submit("short", {.ns = "a", .deadline = 60, .runs = 10});
  world.advance(910);
  EXPECT_TRUE(world.runs("short"));
}

TEST(Turns, NodesAreKeptForTheFirstInLine) {
  TurnWorld world(tenants({}), 2);
  world.submit("half", {.ns = "a", .deadline = kAnHour, .runs = 1000});
  world.submit("gang", {.ns = "b", .workers = 2, .runs = 10});
  EXPECT_EQ(world.verdict("gang").reason, reason::kFirstInLine);
  const auto longest = world.promised("gang");
  ASSERT_TRUE(longest);
  EXPECT_GT(*longest, at(kAnHour));
  world.submit("unbounded", {.ns = "c", .runs = 10});
  EXPECT_EQ(world.verdict("unbounded").reason, reason::kWaitingForTurn);
  world.submit("too long", {.ns = "c", .deadline = kAnHour, .runs = 10});
  EXPECT_TRUE(world.waits("too long"));
  world.submit("short", {.ns = "c", .deadline = 600, .runs = 600});
  EXPECT_TRUE(world.runs("short")) << "it ends before the gang can start";
  world.advance(1000);
  EXPECT_TRUE(world.runs("gang"));
}

// A job counts its deadline from when it has taken its nodes.
TEST(Turns, APromiseStaysIfTheBoundComesAFewSecondsLater) {
  auto pool = test::make_pool();
  pool.spec.queue.emplace();
  auto node = test::make_pool_node(test::make_node("n", 1));
  node.leased = true;
  auto job = test::make_job("first");
  job.status.progress.emplace().queue = api::JobQueueStatus{"ns", {}, {}};
  job.status.progress->queue->reserved_since = test::at(0);
  job.status.progress->queue->latest_start = test::at(1000);
  planning::WaitingLine line;
  line.put(test::share(job), 0, {}, {"ns", 0, 0, 0});
  const auto told = [&](std::int64_t bound) {
    const auto free_at = [&](const std::string&) { return std::optional(test::at(bound)); };
    const auto shares = [](const std::string& name) {
      planning::TenantBook::Share share;
      share.tenant.name = name;
      return share;
    };
    const planning::TurnPlan plan({test::share(pool), {&node}, shares, free_at, test::at(10)}, line);
    return plan.verdict(*line.find(job.metadata.key()))->turn->latest_start;
  };
  EXPECT_EQ(told(1003), test::at(1000));
  EXPECT_EQ(told(1030), test::at(1000));
  EXPECT_EQ(told(1031), test::at(1031));
}

TEST(Turns, AGuaranteedJobPassesTheFirstInLineAndDoesNotTakeItsPlace) {
  TurnWorld world(tenants({{"owner", {"owner"}, 1, 2, {}, {}}}), 2);
  world.submit("half", {.ns = "a", .deadline = kAnHour, .runs = 1000});
  world.submit("rest", {.ns = "a", .deadline = kAnHour, .runs = 2000});
  world.submit("gang", {.ns = "b", .workers = 2, .runs = 10});
  world.submit("owned", {.ns = "owner", .workers = 2, .deadline = kAnHour, .runs = 10});
  EXPECT_EQ(world.verdict("gang").reason, reason::kFirstInLine);
  EXPECT_EQ(world.verdict("owned").reason, reason::kWaitingForTurn);
  world.advance(1000);
  EXPECT_EQ(world.verdict("gang").reason, reason::kFirstInLine);
  world.advance(1000);
  EXPECT_TRUE(world.runs("owned")) << "both nodes came free";
  world.advance(10);
  EXPECT_TRUE(world.runs("gang"));
}

TEST(Turns, OfTheNodesThatAreFreeInTimeTheLastAreKept) {
  TurnWorld world(tenants({}), 3);
  world.submit("a", {.ns = "a", .deadline = kAnHour, .runs = 1000});
  world.submit("b", {.ns = "a", .deadline = kAnHour, .runs = 1000});
  world.submit("gang", {.ns = "b", .workers = 2, .runs = 10});
  world.submit("unbounded", {.ns = "c", .runs = 5000});
  EXPECT_TRUE(world.runs("unbounded"))
      << "on the node that is free now: those of a and b are free at the same time";
  world.advance(1000);
  EXPECT_TRUE(world.runs("gang"));
}

TEST(Turns, WithoutBackfillNobodyPasses) {
  auto spec = tenants({});
  spec.backfill = false;
  TurnWorld world(spec, 2);
  world.submit("half", {.ns = "a", .deadline = kAnHour, .runs = 1000});
  world.submit("gang", {.ns = "b", .workers = 2, .runs = 10});
  world.submit("short", {.ns = "c", .deadline = 60, .runs = 60});
  EXPECT_TRUE(world.waits("short"));
}

TEST(Turns, OtherNodesAreFreeForOthers) {
  TurnWorld world(tenants({}), 3);
  world.submit("a", {.ns = "a", .deadline = kAnHour, .runs = 100});
  world.submit("b", {.ns = "a", .deadline = 2 * kAnHour, .runs = 100});
  world.submit("gang", {.ns = "b", .workers = 2, .runs = 10});
  EXPECT_EQ(world.verdict("gang").reason, reason::kFirstInLine) << "on the free node and that of a";
  world.end("b");
  EXPECT_TRUE(world.runs("gang"));
}

TEST(Turns, AJobThatCanNeverRunKeepsNothing) {
  TurnWorld world(tenants({}), 2);
  world.submit("huge", {.ns = "a", .workers = 3});
  EXPECT_EQ(world.verdict("huge").reason, reason::kTooLarge);
  world.submit("small", {.ns = "b"});
  EXPECT_TRUE(world.runs("small"));
}

TEST(Turns, TheFirstInLineThatLeavesMakesRoom) {
  TurnWorld world(tenants({}), 2);
  world.submit("half", {.ns = "a", .runs = 1000});
  world.submit("gang", {.ns = "b", .workers = 2});
  world.submit("small", {.ns = "c"});
  EXPECT_TRUE(world.waits("small"));
  world.leave("gang");
  EXPECT_TRUE(world.runs("small"));
}

}  // namespace
}  // namespace gpupool::planning
