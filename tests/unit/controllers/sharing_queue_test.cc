// SPDX-License-Identifier: Apache-2.0
// The queue of a sharing pool.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/job_status.h"
#include "planning/workers/worker_identity.h"
#include "tests/unit/controllers/pool_queue_world.h"

namespace gpupool::controllers {
namespace {

class SharingWorld : public test::PoolQueueWorld {
 public:
  SharingWorld() { put(test::make_sharing_pool("lab")); }

  // Adds a node with two GPUs of ten slices each.
  void add_node(const std::string& name) {
    put(test::make_shared_member(name, 20));
    put(test::make_report(name, 2));
  }
  void add_job(const std::string& name, std::int64_t slices, std::int64_t workers = 1, std::int64_t age = 0) {
    auto job = test::make_queued_job(name, workers, age);
    job.spec.slice = api::JobSlice{"", {}, slices};
    put(std::move(job));
  }
};

api::Pod worker_of(const api::GpuJob& job, const std::string& node, int rank) {
  auto pod = test::make_pod(job.status.lease->id, rank);
  pod.metadata.name = job.metadata.name + "-" + std::to_string(rank);
  pod.metadata.labels[api::kJobUidLabel] = job.metadata.uid;
  pod.metadata.labels[api::kSlicesLabel] = std::to_string(job.status.lease->slices);
  pod.spec.node_name = node;
  return pod;
}

TEST(SharingQueue, GivesNoSliceTwiceBeforeTheFirstGrantIsWritten) {
  SharingWorld world;
  world.add_node("a");
  for (const auto* name : {"one", "two", "three"}) world.add_job(name, 10);
  EXPECT_EQ(world.ask("one").nodes.size(), 1U);
  EXPECT_EQ(world.ask("two").nodes.size(), 1U);
  EXPECT_EQ(world.ask("three").reason, api::reason::kWaitingForNodes);
}

TEST(SharingQueue, AGrantIsKeptUntilTheQueueIsToldOfTheLease) {
  SharingWorld world;
  world.add_node("a");
  for (const auto* name : {"one", "two", "three"}) world.add_job(name, 10);
  world.put_untold(world.taking("one", world.ask("one")));
  EXPECT_EQ(world.ask("two").nodes.size(), 1U);
  EXPECT_EQ(world.ask("three").reason, api::reason::kWaitingForNodes);
}

TEST(SharingQueue, ATenantThatHoldsLessMayHaveMoreAlsoIfNoNodeChanges) {
  SharingWorld world;
  auto pool = test::make_sharing_pool("lab");
  ++pool.metadata.generation;
  pool.spec.queue.emplace().others.emplace().limit = 1;
  world.put(pool);
  world.add_node("a");
  world.add_job("holds", 10);
  ASSERT_EQ(world.take("holds").nodes.size(), 1U);
  world.add_node("b");
  world.add_job("waits", 10);
  world.remove_node("a");
  EXPECT_EQ(world.take("waits").reason, api::reason::kLimitReached);
  world.finish("holds");
  EXPECT_EQ(world.take("waits").nodes.size(), 1U);
}

TEST(SharingQueue, AnOperatorThatComesKnowsWhatATenantHolds) {
  SharingWorld world;
  auto pool = test::make_sharing_pool("lab");
  ++pool.metadata.generation;
  pool.spec.queue.emplace().others.emplace().limit = 1;
  world.put(pool);
  world.add_node("a");
  world.add_job("holds", 10);
  ASSERT_EQ(world.take("holds").nodes.size(), 1U);
  world.add_job("waits", 10);
  test::PoolQueueWorld::Fresh fresh(world);
  EXPECT_EQ(fresh.queue.ask(*world.job("waits")).verdict().reason, api::reason::kLimitReached);
}

TEST(SharingQueue, ALeaseOnTheSameNodesMayHaveMoreSlices) {
  SharingWorld world;
  world.add_node("a");
  world.add_job("one", 1);
  EXPECT_EQ(world.take("one").slices, 1);
  world.add_job("two", 10, 1, 1);
  EXPECT_EQ(world.queue().view("lab")->shared.at(0).held, 1);
  auto one = *world.job("one");
  one.status.lease->slices = 10;
  one.status.lease->nodes[0].workers = 2;
  world.put(std::move(one));
  EXPECT_EQ(world.ask("two").reason, api::reason::kWaitingForNodes);
}

// Applies one random change to workers or reports; `pick` chooses one element of many.
template <class Pick>
void stir(SharingWorld& world, const std::vector<std::string>& nodes, const Pick& pick) {
  const int what = *rc::gen::inRange(0, 4);
  std::vector<api::Pod> pods;
  for (const auto& pod : world.pods()) pods.push_back(*pod);
  if (what == 0) {
    std::vector<api::Pod> fresh;
    for (const auto& job : world.jobs()) {
      if (!job->status.lease) continue;
      int rank = 0;
      for (const auto& ref : job->status.lease->nodes) {
        for (std::int64_t i = 0; i < ref.workers; ++i) fresh.push_back(worker_of(*job, ref.name, rank++));
      }
    }
    if (!fresh.empty()) world.put(pick(fresh));
  } else if (what == 1 && !pods.empty()) {
    world.put(test::ended(pick(pods), 0));
  } else if (what == 2 && !pods.empty()) {
    world.remove_pod(pick(pods));
  } else if (what == 3) {
    auto report = test::make_report(pick(nodes), *rc::gen::inRange(1, 3));
    for (const auto& pod : pods) {
      if (pod.spec.node_name == report.metadata.name && *rc::gen::inRange(0, 2) == 0)
        test::show_pod(report, 0, pod.metadata.name, planning::slices_of(pod));
    }
    if (*rc::gen::inRange(0, 4) == 0) report.status.gpus[0].health = "Unhealthy";
    world.put(std::move(report));
  }
}

// After any changes, the queue gives the same answers as one that reads everything again.
RC_GTEST_PROP(SharingQueue, WorkingInChangesIsAsGoodAsBeginningAnew, ()) {
  SharingWorld world;
  int names = 0;
  const auto pick = [](const auto& from) { return from[*rc::gen::inRange<std::size_t>(0, from.size())]; };
  const std::vector<std::string> node_names{"n0", "n1", "n2"};
  for (const auto& name : node_names) world.add_node(name);
  const int steps = *rc::gen::inRange(5, 40);
  for (int i = 0; i < steps; ++i) {
    const auto waiting = world.waiting();
    const auto holding = world.holding();
    const int what = *rc::gen::inRange(0, 12);
    if (what < 4) {
      world.add_job("j" + std::to_string(names++), *rc::gen::inRange(1, 11), *rc::gen::inRange(1, 4), i);
    } else if (what == 4 && !waiting.empty()) {
      world.remove_job(pick(waiting));
    } else if (what == 5 && !waiting.empty()) {
      auto job = *world.job(pick(waiting));
      if (*rc::gen::arbitrary<bool>()) job.spec.priority = 1 - job.spec.priority;
      job.spec.nodes = {pick(node_names)};
      ++job.metadata.generation;
      world.put(std::move(job));
    } else if (what == 6) {
      auto node = test::make_shared_member(pick(node_names), *rc::gen::element(10, 20));
      node.spec.unschedulable = *rc::gen::inRange(0, 3) == 0;
      if (*rc::gen::inRange(0, 4) == 0) node.metadata.annotations[api::kDrain] = "";
      world.put(std::move(node));
    } else if (what == 7) {
      world.remove_node(pick(node_names));
    } else if (what == 8 && !holding.empty()) {
      world.finish(pick(holding));
    } else if (what == 9) {
      world.notify();
    } else {
      stir(world, node_names, pick);
    }
    test::assert_as_begun_anew(world, waiting, &PoolView::shared);
  }
}

}  // namespace
}  // namespace gpupool::controllers
