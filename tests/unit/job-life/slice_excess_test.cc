// SPDX-License-Identifier: Apache-2.0
// A worker uses more memory of a GPU than its slices have, as the device plugin of its node reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/v1alpha1/reasons.h"
#include "planning/job/slice_excess.h"
#include "tests/unit/job-life/world.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using test::Ending;
using test::World;
using testing::HasSubstr;
using testing::IsEmpty;
namespace phase = api::phase;
namespace reason = api::reason;

class SliceExcess : public testing::Test {
 protected:
  SliceExcess() {
    world_.share(3);
    world_.job.spec.backoff_limit = 1;
    world_.ending = [](std::int64_t attempt, std::int64_t) {
      return attempt == 0 ? Ending::kNever : Ending::kSuccess;
    };
  }
  void start() {
    ASSERT_TRUE(world_.run([&] { return world_.running(); }));
  }
  const api::Pod& some_worker() const { return *world_.pods.begin()->second; }
  static api::GpuNodeExcess excess_of(const api::Pod& pod, bool end) {
    return {.ns = pod.metadata.ns,
            .pod = pod.metadata.name,
            .pod_uid = pod.metadata.uid,
            .device = "GPU-7",
            .used_mib = 9000,
            .limit_mib = 4800,
            .since = test::at(0),
            .end = end};
  }
  void report_to(const std::string& node, const api::GpuNodeExcess& excess) {
    world_.reports.at(node).status.excesses.push_back(excess);
  }
  void report(bool end) { report_to(some_worker().spec.node_name, excess_of(some_worker(), end)); }
  int events_of_excess() const {
    return static_cast<int>(std::ranges::count(world_.events, std::string(reason::kSliceExceeded)));
  }
  void expect_that_it_runs_on() {
    world_.run();
    EXPECT_EQ(world_.job.status.phase, phase::kRunning);
    EXPECT_EQ(world_.job.status.failures, 0);
    EXPECT_EQ(world_.job.status.reason, reason::kWorkersRunning);
    EXPECT_THAT(world_.broken, IsEmpty());
  }

  World world_{4, {"a", "b", "c"}};
};

TEST_F(SliceExcess, EndsTheAttemptAndIsCharged) {
  start();
  report(true);
  ASSERT_TRUE(world_.run());
  EXPECT_EQ(world_.job.status.phase, phase::kSucceeded) << "the second attempt is within its slices";
  EXPECT_EQ(world_.job.status.failures, 1);
  EXPECT_EQ(world_.job.status.attempts, 2);
  EXPECT_EQ(events_of_excess(), 1);
  ASSERT_EQ(world_.job.status.progress->history.size(), 1U);
  EXPECT_EQ(world_.job.status.progress->history[0].cause, reason::kSliceExceeded);
  EXPECT_THAT(world_.broken, IsEmpty());
}

TEST_F(SliceExcess, EndsTheJobAfterTheLastAttempt) {
  world_.job.spec.backoff_limit = 0;
  start();
  report(true);
  ASSERT_TRUE(world_.run());
  EXPECT_EQ(world_.job.status.phase, phase::kFailed);
  EXPECT_EQ(world_.job.status.reason, reason::kSliceExceeded);
  EXPECT_EQ(world_.condition("Failed").reason, reason::kSliceExceeded);
  EXPECT_THAT(world_.job.status.message,
              HasSubstr("used 9000 MiB of GPU-7 on node a; its slices have 4800 MiB"));
  EXPECT_FALSE(world_.job.status.lease.has_value());
  EXPECT_THAT(world_.broken, IsEmpty());
}

TEST_F(SliceExcess, IsOnlyToldIfTheOwnerLetsItRun) {
  start();
  report(false);
  world_.run();
  EXPECT_EQ(world_.job.status.phase, phase::kRunning);
  EXPECT_EQ(world_.job.status.reason, reason::kSliceExceeded);
  EXPECT_THAT(world_.job.status.message, HasSubstr("lets it run"));
  EXPECT_EQ(world_.job.status.failures, 0);
  EXPECT_EQ(events_of_excess(), 1);
}

TEST_F(SliceExcess, WritesNothingWhenItsFiguresChangeOrItGoes) {
  start();
  report(false);
  world_.run();
  const auto writes = world_.writes;
  auto& excesses = world_.reports.at(some_worker().spec.node_name).status.excesses;
  excesses[0].used_mib = 9999;
  world_.run();
  excesses.clear();
  world_.run();
  EXPECT_EQ(world_.writes, writes);
  EXPECT_EQ(events_of_excess(), 1);
}

TEST_F(SliceExcess, AnotherNodesReportIsNotBelieved) {
  start();
  const auto& node = some_worker().spec.node_name;
  report_to(node == "a" ? "b" : "a", excess_of(some_worker(), true));
  report_to("c", excess_of(some_worker(), true));
  expect_that_it_runs_on();
}

TEST_F(SliceExcess, AReportAboutAnotherPodIsNotBelieved) {
  start();
  const auto& worker = some_worker();
  auto another = excess_of(worker, true);
  another.pod_uid = "uid-of-an-earlier-pod";
  report_to(worker.spec.node_name, another);
  another = excess_of(worker, true);
  another.ns = "elsewhere";
  report_to(worker.spec.node_name, another);
  another = excess_of(worker, true);
  another.pod_uid = another.pod = another.ns = "";
  report_to(worker.spec.node_name, another);
  expect_that_it_runs_on();
}

TEST_F(SliceExcess, OnlyARunningWorkerOnTheNodeOfTheLeaseIsMeant) {
  start();
  report(true);
  auto pod = some_worker();
  auto node = world_.nodes.at(pod.spec.node_name);
  const auto ends = [&] {
    Observation seen{.job = world_.job, .pods = {test::share(pod)}};
    seen.node = [&](const std::string& name) {
      return name == pod.spec.node_name ? test::share(node) : nullptr;
    };
    seen.report_of = [&](const api::Node& of) { return test::share(world_.reports.at(of.metadata.name)); };
    seen.worker_container = test::kWorker;
    seen.live = true;
    return end_excess(seen).has_value();
  };
  EXPECT_TRUE(ends());
  node.metadata.uid = "uid-again";
  EXPECT_FALSE(ends()) << "another machine of this name";
  node = world_.nodes.at(pod.spec.node_name);
  pod = test::ended(pod, 0, test::exited_result(0));
  EXPECT_FALSE(ends()) << "it has succeeded";
  pod = test::deleted(some_worker());
  EXPECT_FALSE(ends()) << "it is being deleted";
}

TEST_F(SliceExcess, IsNotEndedFromTheCacheAlone) {
  start();
  report(true);
  const auto looks = world_.live_looks;
  world_.operate();
  EXPECT_GT(world_.live_looks, looks);
  EXPECT_EQ(world_.job.status.reason, reason::kSliceExceeded);
}

}  // namespace
}  // namespace gpupool::planning
