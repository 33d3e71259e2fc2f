// SPDX-License-Identifier: Apache-2.0
#include "planning/job/lease_ends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "api/core/workload.h"
#include "tests/unit/job-life/world.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using test::Ending;
using test::World;
using testing::IsEmpty;

class Ends : public testing::Test {
 protected:
  Ends() { lease(1); }

  void lease(std::int64_t n) {
    job_.status.lease = test::make_lease(job_, api::lease_state::kReleasing, {"a"}, n);
    job_.status.lease->spec_hash = api::spec_hash(job_.spec);
    job_.status.lease_sequence = n;
  }
  Child child(const api::ResourceType& type) const {
    return {&type, {"ns", "job-1"}, "uid-child", job_.status.lease->id};
  }
  bool shown(const Pods& pods = {}) const { return ends_.shown(job_, pods); }

  api::GpuJob job_ = test::make_job();
  const api::Pod pod_ = test::ended(test::make_pod(), 0);
  LeaseEnds ends_;
};

TEST_F(Ends, ShowAfterTheChildrenWereDeletedAndThenAPod) {
  EXPECT_FALSE(shown());
  ends_.deleted(child(api::BatchJob::kType));
  EXPECT_FALSE(shown()) << "what the Job had made may not be in the cache yet";
  ends_.deleted(pod_);
  EXPECT_TRUE(shown());
  ends_.forget(job_.metadata.uid);
  EXPECT_FALSE(shown());
}

TEST_F(Ends, DoNotShowByAPodThatWasDeletedBeforeTheChildren) {
  ends_.deleted(pod_);
  ends_.deleted(child(api::BatchJob::kType));
  EXPECT_FALSE(shown());
}

TEST_F(Ends, DoNotShowInACacheThatHasThePodAsItWas) {
  ends_.deleted(child(api::BatchJob::kType));
  ends_.deleted(pod_);
  EXPECT_FALSE(shown({test::share(pod_)}));
  EXPECT_TRUE(shown({test::share(test::deleted(pod_))}));
}

TEST_F(Ends, DoNotShowByAPodThatHadNoNode) {
  ends_.deleted(child(api::BatchJob::kType));
  auto homeless = pod_;
  homeless.spec.node_name.clear();
  ends_.deleted(homeless);
  EXPECT_FALSE(shown({test::share(test::deleted(homeless))}));
}

TEST_F(Ends, OfAGangNeedItsServiceToGoToo) {
  job_.spec.gpus = 2;
  lease(1);
  ends_.deleted(child(api::StatefulSet::kType));
  ends_.deleted(pod_);
  EXPECT_FALSE(shown());
  ends_.deleted(child(api::Service::kType));
  EXPECT_TRUE(shown());
}

TEST_F(Ends, OfAServiceAloneSayNothingOfPods) {
  job_.spec.gpus = 2;
  lease(1);
  ends_.deleted(child(api::Service::kType));
  ends_.deleted(pod_);
  ends_.deleted(child(api::StatefulSet::kType));
  EXPECT_FALSE(shown());
}

TEST_F(Ends, AreNotEnoughForJobsWithAPast) {
  ends_.deleted(child(api::BatchJob::kType));
  ends_.deleted(pod_);
  auto& status = job_.status;
  status.lease->lost.push_back({});
  EXPECT_FALSE(shown());
  status.lease->lost.clear();
  status.lease->spec_hash = "other";
  EXPECT_FALSE(shown());
  lease(2);
  EXPECT_FALSE(shown());
}

TEST(EndOfALease, IsShownToWhoHasWatchedIt) {
  for (const std::int64_t gpus : {1, 2}) {
    World world(gpus, {"a", "b"});
    world.ending = [](std::int64_t, std::int64_t) { return Ending::kNever; };
    ASSERT_TRUE(world.run([&] { return world.running(); }));
    const int looks = world.live_looks;
    world.delete_job();
    ASSERT_TRUE(world.run([&] { return !world.job_exists && world.pods.empty(); }));
    EXPECT_EQ(world.live_looks, looks);
    EXPECT_THAT(world.broken, IsEmpty());
  }
}

TEST(EndOfALease, IsLookedForByWhoHasNotSeenItBegin) {
  World world(1, {"a"});
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kNever; };
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  const int looks = world.live_looks;
  world.delete_job();
  bool crashed = false;
  world.crash_now = [&]() -> std::optional<bool> {
    if (crashed || world.has_child("Job")) return std::nullopt;
    crashed = true;
    return false;
  };
  ASSERT_TRUE(world.run([&] { return !world.job_exists && world.pods.empty(); }));
  EXPECT_TRUE(crashed);
  EXPECT_GT(world.live_looks, looks);
  EXPECT_THAT(world.broken, IsEmpty());
}

// However late the caches are, no node is given back while a worker runs, and nothing is left over.
RC_GTEST_PROP(EndOfALease, IsNeverShownTooEarly, ()) {
  World world(*rc::gen::inRange<std::int64_t>(1, 4), {"a", "b", "c"});
  if (*rc::gen::arbitrary<bool>()) world.share(*rc::gen::inRange<std::int64_t>(1, 11));
  const auto dice = *rc::gen::container<std::vector<int>>(300, rc::gen::inRange(0, 10));
  const auto lags = *rc::gen::inRange(0, 10);
  std::size_t rolls = 0;
  const auto roll = [&] { return rolls < dice.size() ? dice[rolls++] : 9; };
  world.lag = [&] { return roll() < lags; };
  world.hesitate = [&] { return roll() < 3; };
  const auto lateness = *rc::gen::inRange(0, 11);
  // Not in a sharing pool, where nodes stay open to the ranks of a gang.
  if (!world.pool->spec.sharing) world.late = [&] { return rolls < dice.size() && roll() < lateness; };
  world.ending = [&](std::int64_t, std::int64_t) {
    const int rolled = roll();
    return rolled < 2 ? Ending::kCrash : rolled < 4 ? Ending::kNever : Ending::kSuccess;
  };
  const int patience = *rc::gen::inRange(0, 30);
  int turns = 0;
  world.run([&] { return ++turns > patience; });
  if (world.job_exists) world.delete_job();
  RC_ASSERT(world.run([&] { return !world.job_exists && world.pods.empty(); }));
  while (world.turn()) continue;  // the garbage collector
  RC_ASSERT(world.broken == std::vector<std::string>{});
  RC_ASSERT(world.tainted().empty());
  RC_ASSERT(world.pods.empty());
  RC_ASSERT(world.children_at_work().empty());
}

}  // namespace
}  // namespace gpupool::planning
