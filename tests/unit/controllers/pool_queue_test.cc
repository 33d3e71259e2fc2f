// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/job_status.h"
#include "tests/unit/controllers/pool_queue_world.h"

namespace gpupool::controllers {
namespace {

using test::make_queued_job;
using test::PoolQueueWorld;

TEST(PoolQueue, GivesNoNodeTwiceBeforeTheFirstGrantIsWritten) {
  PoolQueueWorld world;
  world.put(test::make_node("a"));
  world.put(make_queued_job("one", 1));
  world.put(make_queued_job("two", 1));
  EXPECT_EQ(world.ask("one").nodes.size(), 1U);
  EXPECT_EQ(world.ask("two").reason, api::reason::kWaitingForNodes);
  EXPECT_EQ(world.ask("one").nodes.size(), 1U) << "asked again, it still has it";
}

TEST(PoolQueue, AGrantThatCameToNothingGoesToTheNext) {
  PoolQueueWorld world;
  world.put(test::make_node("a"));
  world.put(make_queued_job("one", 1));
  world.put(make_queued_job("two", 1));
  EXPECT_EQ(world.ask("one").nodes.size(), 1U);
  world.remove_job("one");
  world.end("one");
  EXPECT_EQ(world.ask("two").nodes.size(), 1U);
}

api::GpuJob stalled_job(const std::string& name) {
  auto job = test::make_job(name);
  job.status.phase = api::phase::kQueued;
  api::Condition condition;
  condition.type = "Stalled";
  condition.status = "True";
  condition.observed_generation = 1;
  condition.reason = api::reason::kForbidden;
  condition.message = "exceeded quota";
  api::set_condition(job.status.conditions, condition, test::at(0));
  return job;
}

TEST(PoolQueue, AJobThatTheServerRefusesIsInNobodysWay) {
  test::PoolQueueWorld world;
  world.put(test::make_node("a"));
  world.put(stalled_job("refused"));
  world.put(test::make_job("good"));
  EXPECT_EQ(world.queue().view("lab")->waiting, 1);
  EXPECT_EQ(world.ask("good").nodes.size(), 1U);
  world.end("good");
  // When it asks again, it is in the line until its ticket ends, and gets what its position gives it.
  world.remove_job("good");
  EXPECT_EQ(world.ask("refused").nodes.size(), 1U);
  world.end("refused");
  EXPECT_EQ(world.queue().view("lab")->waiting, 0);
}

TEST(PoolQueue, AJobWhoseWritesAreRefusedStepsAside) {
  test::PoolQueueWorld world;
  world.put(test::make_node("a"));
  world.put(test::make_job("first"));
  world.put(test::make_job("second"));
  ASSERT_EQ(world.ask("first").nodes.size(), 1U);
  world.queue().leave({"ns", "first"});
  EXPECT_EQ(world.ask("second").nodes.size(), 1U) << "nothing is kept for the first";
  world.end("second");
  EXPECT_EQ(world.ask("first").nodes.size(), 1U) << "when it asks again";
}

TEST(PoolQueue, ANodeThatCouldNotRunAWorkerIsNotTheFirstChoiceAgain) {
  PoolQueueWorld world;
  for (const auto* name : {"a", "b", "c"}) world.put(test::make_node(name));
  world.put(make_queued_job("gang", 2));
  const auto verdict = world.ask("gang");
  ASSERT_EQ(verdict.nodes.size(), 2U);
  auto job = world.taking("gang", verdict);
  world.put(job);
  world.end("gang");
  auto placed = test::make_pod(job.status.lease->id);
  placed.metadata.labels[api::kJobUidLabel] = job.metadata.uid;
  placed.metadata.owner_references = {{"StatefulSet", "gang-1", "uid-set", true}};
  placed.spec.node_name = "a";
  world.put(placed);
  job.status.reason = api::reason::kPlacementRefused;
  world.put(job);
  world.queue().view("lab");  // works in the change
  job.status.lease.reset();
  world.put(job);
  world.remove_pod(placed);
  const auto again = world.ask("gang");
  ASSERT_EQ(again.nodes.size(), 2U);
  EXPECT_EQ(again.nodes[0].name, "a") << "its worker had found a place there";
  EXPECT_EQ(again.nodes[1].name, "c");
}

TEST(PoolQueue, ALabelOfANodeChangesTheAnswer) {
  PoolQueueWorld world;
  auto node = test::make_node("a");
  world.put(node);
  world.put(test::with_template(make_queued_job("picky", 1), R"("nodeSelector":{"zone":"b"})"));
  EXPECT_EQ(world.ask("picky").reason, api::reason::kNoMatchingNode);
  world.end("picky");
  node.metadata.labels["zone"] = "b";
  world.put(node);
  EXPECT_THAT(world.notify(), testing::ElementsAre(api::ObjectKey{"ns", "picky"}));
  EXPECT_EQ(world.ask("picky").nodes.size(), 1U);
}

TEST(PoolQueue, TellsOnlyThoseWhoseAnswerChanged) {
  PoolQueueWorld world;
  world.put(test::make_node("a"));
  for (int i = 0; i < 4; ++i) world.put(make_queued_job("job-" + std::to_string(i), 1, i));
  EXPECT_EQ(world.take("job-0").nodes.size(), 1U);
  const auto tell = [&](int i) {
    auto job = *world.job("job-" + std::to_string(i));
    const auto verdict = world.ask(job);
    job.status.reason = verdict.reason;
    job.status.message = verdict.message;
    world.put(std::move(job));
  };
  for (int i = 1; i < 4; ++i) tell(i);
  EXPECT_THAT(world.notify(), testing::IsEmpty());
  world.finish("job-0");
  EXPECT_THAT(world.notify(),
              testing::ElementsAre(api::ObjectKey{"ns", "job-1"}, api::ObjectKey{"ns", "job-2"}))
      << "the one has got nodes, the other is the first who waits";
  EXPECT_EQ(world.take("job-1").nodes.size(), 1U);
  tell(2);
  EXPECT_THAT(world.notify(), testing::IsEmpty());
}

TEST(PoolQueue, CallsWhoGetsNodesOnceUntilItComes) {
  PoolQueueWorld world;
  for (const auto* name : {"a", "b"}) world.put(test::make_node(name));
  for (const auto* name : {"one", "two"}) world.put(make_queued_job(name, 1));
  EXPECT_EQ(world.notify().size(), 2U);
  world.put(test::make_node("c"));  // drops the plan
  EXPECT_THAT(world.notify(), testing::IsEmpty());
  EXPECT_EQ(world.ask("one").nodes.size(), 1U);
  world.end("one");  // the job did not take its grant
  EXPECT_THAT(world.notify(), testing::ElementsAre(api::ObjectKey{"ns", "one"}));
  auto two = *world.job("two");
  two.spec.suspend = true;
  world.put(two);
  EXPECT_THAT(world.notify(), testing::IsEmpty());
  two.spec.suspend = false;
  world.put(two);
  EXPECT_THAT(world.notify(), testing::ElementsAre(api::ObjectKey{"ns", "two"}))
      << "it was not in the line meanwhile";
}

TEST(PoolQueue, WhenANamedSpareIsTakenOthersAreAnsweredAnew) {
  PoolQueueWorld world;
  auto pool = test::make_pool("lab");
  pool.spec.spares.emplace().nodes = 1;
  pool.metadata.generation = 1;
  world.put(pool);
  world.put(test::make_node("a", 8));
  for (const auto* name : {"b", "c"}) world.put(test::make_node(name));
  world.put(make_queued_job("any", 1, 0));
  auto named = make_queued_job("named", 1, 1);
  named.spec.nodes = {"c"};
  world.put(named);
  EXPECT_EQ(world.take("named").nodes.at(0).name, "c");
  EXPECT_EQ(PoolQueueWorld::Fresh(world).queue.ask(*world.job("any")).verdict().nodes.at(0).name, "a");
  EXPECT_EQ(world.take("any").nodes.at(0).name, "a") << "b is the spare now";
}

TEST(PoolQueue, AReplacementIsNotGivenToAnotherToo) {
  PoolQueueWorld world;
  for (const auto* name : {"a", "b"}) world.put(test::make_node(name));
  world.put(make_queued_job("holds", 1));
  ASSERT_EQ(world.take("holds").nodes.at(0).name, "a");
  world.put(make_queued_job("waits", 1));
  EXPECT_EQ(world.notify().size(), 1U) << "it may have b";
  const auto ticket = world.queue().replace(*world.job("holds"), {});
  ASSERT_EQ(ticket.verdict().nodes.at(0).name, "b");
  EXPECT_TRUE(world.ask("waits").nodes.empty());
}

TEST(PoolQueue, ADrainedNodeIsGivenAgainWhenTheDrainIsTakenBack) {
  PoolQueueWorld world;
  auto node = test::make_node("a");
  node.metadata.annotations[api::kDrain] = "";
  world.put(node);
  world.put(make_queued_job("job", 1));
  EXPECT_TRUE(world.take("job").nodes.empty());
  node.metadata.annotations.clear();
  world.put(node);
  EXPECT_EQ(world.notify().size(), 1U);
  EXPECT_EQ(world.take("job").nodes.size(), 1U);
}

TEST(PoolQueue, ATenantHoldsANodeThatHasLeftThePool) {
  PoolQueueWorld world;
  auto pool = test::make_pool("lab");
  ++pool.metadata.generation;
  pool.spec.node_selector.match_labels["pool"] = "lab";
  pool.spec.queue.emplace().others.emplace().limit = 4;
  world.put(pool);
  auto node = test::make_node("a", 4);
  node.metadata.labels["pool"] = "lab";
  world.put(node);
  world.put(make_queued_job("holds", 4));
  ASSERT_EQ(world.take("holds").nodes.size(), 1U);
  auto left = node;
  left.metadata.labels.erase("pool");
  world.put(left);
  auto runs = *world.job("holds");
  runs.status.lease->state = api::lease_state::kRunning;
  world.put(runs);
  auto other = test::make_node("b");
  other.metadata.labels["pool"] = "lab";
  world.put(other);
  world.put(make_queued_job("waits", 1));
  EXPECT_EQ(world.take("waits").reason, api::reason::kLimitReached);
  world.finish("holds");
  const auto verdict = world.take("waits");
  EXPECT_EQ(verdict.nodes.size(), 1U) << verdict.reason << ": " << verdict.message;
}

// Statuses have whole seconds: a fraction would be written again and again.
TEST(PoolQueue, TellsTheFirstInLineTimesAsStatusesHaveThem) {
  PoolQueueWorld world;
  auto pool = test::make_pool("lab");
  pool.spec.queue.emplace();
  world.put(pool);
  world.put(test::make_node("a"));
  world.put(make_queued_job("runs", 1));
  world.take("runs");
  world.put(make_queued_job("waits", 1));
  world.clock().advance(std::chrono::milliseconds(2500));
  const auto verdict = world.ask("waits");
  ASSERT_EQ(verdict.reason, api::reason::kFirstInLine);
  EXPECT_EQ(verdict.turn->reserved_since, test::ManualClock::kWallStart + std::chrono::seconds(2));
}

// After any changes, the queue gives the same answers as one that reads everything again.
RC_GTEST_PROP(PoolQueue, WorkingInChangesIsAsGoodAsBeginningAnew, ()) {
  PoolQueueWorld world;
  int names = 0;
  const auto pick = [](const auto& from) { return from[*rc::gen::inRange<std::size_t>(0, from.size())]; };
  std::vector<std::string> node_names;
  for (int i = 0; i < 4; ++i) {
    node_names.push_back("n" + std::to_string(i));
    world.put(test::make_node(node_names.back(), *rc::gen::inRange(1, 4)));
  }
  const int steps = *rc::gen::inRange(5, 40);
  for (int i = 0; i < steps; ++i) {
    const auto waiting = world.waiting();
    const auto holding = world.holding();
    const int what = *rc::gen::inRange(0, 10);
    if (what < 3) {
      auto job = make_queued_job("j" + std::to_string(names++), *rc::gen::inRange(1, 6), i);
      job.spec.priority = *rc::gen::weightedElement<std::int64_t>({{5, 0}, {1, 1}});
      if (*rc::gen::inRange(0, 5) == 0) job.spec.nodes = {pick(node_names)};
      world.put(std::move(job));
    } else if (what == 3 && !waiting.empty()) {
      world.remove_job(pick(waiting));
    } else if (what == 4 && !waiting.empty()) {
      auto job = *world.job(pick(waiting));
      job.spec.suspend = !job.spec.suspend;
      ++job.metadata.generation;
      world.put(std::move(job));
    } else if (what == 5) {
      auto node = test::make_node(pick(node_names), *rc::gen::inRange(0, 4));
      node.spec.unschedulable = *rc::gen::inRange(0, 3) == 0;
      if (*rc::gen::inRange(0, 4) == 0) node.metadata.annotations[api::kDrain] = "";
      world.put(std::move(node));
    } else if (what == 6) {
      world.remove_node(pick(node_names));
    } else if (what == 7 && !holding.empty()) {
      world.finish(pick(holding));
    } else if (what == 8) {
      auto pool = test::make_pool("lab");
      pool.spec.gpus.homogeneous = *rc::gen::arbitrary<bool>();
      if (*rc::gen::inRange(0, 2) == 0) pool.spec.spares.emplace().nodes = *rc::gen::inRange(0, 3);
      pool.metadata.generation = i + 1;
      world.put(std::move(pool));
    } else if (what == 9) {
      world.notify();
    }
    test::assert_as_begun_anew(world, waiting, &PoolView::nodes);
  }
}

}  // namespace
}  // namespace gpupool::controllers
