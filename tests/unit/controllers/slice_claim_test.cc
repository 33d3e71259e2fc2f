// SPDX-License-Identifier: Apache-2.0
// Jobs of a sharing pool make room for others (spec.queue.yield).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/forecast/turn_forecast.h"
#include "tests/unit/controllers/pool_queue_world.h"

namespace gpupool::controllers {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr auto kLongAgo = seconds(3600);

// A running job with one worker on node a.
struct Borrower {
  std::string name;
  std::int64_t slices = 0;
  int gpu = 0;
  bool preemptible = true;
  std::string ns = "b";
  std::int64_t priority = 0;
  std::int64_t deadline = 0;  // seconds; 0: none
};

// Node a has two GPUs of ten slices each. Tenant owner has the namespace ns and one GPU guaranteed. limit: of
// tenant b, in GPUs.
class ClaimWorld : public test::PoolQueueWorld {
 public:
  explicit ClaimWorld(const std::vector<Borrower>& borrowers, std::optional<std::int64_t> limit = {}) {
    auto pool = test::make_sharing_pool("lab");
    pool.spec.queue.emplace().tenants = {{"owner", {"ns"}, 1, 1, {}, {}}, {"b", {"b"}, 1, 0, limit, {}}};
    pool.spec.queue->yield.emplace().min_run_seconds = 60;
    put(std::move(pool));
    put(test::make_shared_member("a", 20));
    auto report = test::make_report("a", 2);
    for (const auto& each : borrowers) {
      report.status.gpus[static_cast<std::size_t>(each.gpu)].slices.free -= each.slices;
      report.status.gpus[static_cast<std::size_t>(each.gpu)].pods.push_back(
          {each.ns, each.name + "-0", each.slices});
    }
    put(std::move(report));
    for (const auto& each : borrowers) run(each);
  }

  api::GpuJob make(const std::string& name, std::int64_t slices, const std::string& ns = "ns",
                   std::int64_t workers = 1) {
    auto job = test::make_queued_job(name, workers);
    job.metadata.ns = ns;
    job.metadata.creation_timestamp = clock().wall() - kLongAgo;
    job.spec.slice = api::JobSlice{"", {}, slices};
    return job;
  }
  planning::Verdict submit(const api::GpuJob& job) {
    put(job);
    return ask(job);
  }
  // What the queue would give to the job, which does not stay.
  planning::Verdict would_get(api::GpuJob job) {
    auto verdict = submit(job);
    discard(job);
    job.status.phase = api::phase::kSucceeded;
    put(std::move(job));
    return verdict;
  }
  // The lease of what the job was given.
  void begin(api::GpuJob job, const planning::Verdict& verdict) {
    auto& lease = job.status.lease.emplace();
    lease.id = job.metadata.uid + ".1";
    lease.state = verdict.claim ? api::lease_state::kAwaiting : api::lease_state::kHeld;
    lease.nodes = verdict.nodes;
    lease.slices = verdict.slices;
    lease.turn = api::LeaseTurn{verdict.turn->tenant, {}, {}};
    if (verdict.claim) lease.turn->awaits = verdict.claim->awaits;
    put(std::move(job));
  }
  // The job has no pod and no lease any more, and the report does not show it.
  void leave(const Borrower& each) {
    remove_pod(pod_of(each));
    auto job = make(each.name, each.slices, each.ns);
    job.status.phase = api::phase::kSucceeded;
    put(std::move(job));
  }

 private:
  static api::Pod pod_of(const Borrower& each) {
    auto pod = test::make_pod("uid-" + each.name + ".1");
    pod.metadata.name = each.name + "-0";
    pod.metadata.ns = each.ns;
    pod.metadata.labels[api::kJobUidLabel] = "uid-" + each.name;
    pod.metadata.labels[api::kJobNameLabel] = each.name;
    pod.metadata.owner_references = {{"StatefulSet", each.name, "uid-set-" + each.name, true}};
    pod.metadata.labels[api::kSlicesLabel] = std::to_string(each.slices);
    pod.spec.node_name = "a";
    return pod;
  }
  void run(const Borrower& each) {
    auto job = make(each.name, each.slices, each.ns);
    job.spec.priority = each.priority;
    job.spec.preemptible = each.preemptible;
    if (each.deadline > 0) job.spec.active_deadline_seconds = each.deadline;
    job.status.phase = api::phase::kRunning;
    job.status.start_time = clock().wall() - kLongAgo;
    api::Condition running{"Running", "True", 1, clock().wall() - kLongAgo, "Running", ""};
    job.status.conditions.push_back(std::move(running));
    auto& lease = job.status.lease.emplace();
    lease.id = "uid-" + each.name + ".1";
    lease.state = api::lease_state::kRunning;
    lease.slices = each.slices;
    lease.nodes = {{"a", "uid-a", 1}};
    lease.held_since = clock().wall() - kLongAgo;
    lease.turn = api::LeaseTurn{each.ns == "ns" ? "owner" : each.ns, {}, {}};
    put(std::move(job));
    api::StatefulSet set;
    set.metadata.name = each.name;
    set.metadata.ns = each.ns;
    set.metadata.uid = "uid-set-" + each.name;
    set.metadata.owner_references = {{"GpuJob", each.name, "uid-" + each.name, true}};
    put(std::move(set));
    put(pod_of(each));
  }
};

std::vector<std::string> awaited(const planning::Verdict& verdict) {
  return verdict.claim ? verdict.claim->awaits : std::vector<std::string>();
}

TEST(SliceClaim, AGuaranteeGetsSlicesOfOneThatMayYield) {
  ClaimWorld world({{"firm", 10, 0, false}, {"soft", 10, 1}});
  const auto verdict = world.submit(world.make("mine", 5));
  EXPECT_THAT(verdict.nodes, SizeIs(1));
  EXPECT_EQ(verdict.slices, 5);
  EXPECT_EQ(verdict.reason, api::reason::kWaitingForYield);
  EXPECT_THAT(awaited(verdict), ElementsAre("uid-soft"));
}

TEST(SliceClaim, NobodyYieldsIfThereIsRoom) {
  ClaimWorld world({{"firm", 10, 0, false}, {"soft", 5, 1}});
  const auto verdict = world.submit(world.make("mine", 5));
  EXPECT_THAT(verdict.nodes, SizeIs(1));
  EXPECT_FALSE(verdict.claim);
}

TEST(SliceClaim, OnlyAsManyYieldAsHaveTo) {
  ClaimWorld world({{"s1", 4, 0}, {"s2", 6, 0}, {"s3", 3, 1}, {"s4", 7, 1}});
  EXPECT_THAT(awaited(world.submit(world.make("mine", 7))), ElementsAre("uid-s4"));
  world.end("mine");
  world.remove_job("mine");
  EXPECT_THAT(awaited(world.submit(world.make("whole", 10))), SizeIs(2));
}

TEST(SliceClaim, NobodyYieldsToAJobAboveTheGuarantee) {
  ClaimWorld world({{"s1", 10, 0}, {"s2", 10, 1}});
  EXPECT_THAT(world.submit(world.make("two", 10, "ns", 2)).nodes, IsEmpty());
}

TEST(SliceClaim, AHigherPriorityGetsThoseOfItsTenant) {
  ClaimWorld world({{"low", 10, 0, true, "b"}, {"other", 10, 1, true, "c"}});
  auto high = world.make("high", 10, "b");
  high.spec.priority = 5;
  EXPECT_THAT(awaited(world.submit(high)), ElementsAre("uid-low"));
}

TEST(SliceClaim, AHigherPriorityOfATenantThatHasReachedItsLimit) {
  for (const std::int64_t wanted : {10, 11}) {
    ClaimWorld world({{"low", 10, 0, true, "b"}, {"other", 4, 1, true, "c"}}, 1);
    EXPECT_EQ(world.submit(world.make("same", 6, "b")).reason, api::reason::kLimitReached);
    auto high = world.make("high", wanted == 10 ? 10 : 5, "b", wanted == 10 ? 1 : 3);
    high.spec.priority = 5;
    const auto verdict = world.submit(high);
    if (wanted == 10) {
      EXPECT_THAT(awaited(verdict), ElementsAre("uid-low"));
      continue;
    }
    EXPECT_THAT(awaited(verdict), IsEmpty()) << "what it takes must not be more than low has";
    EXPECT_EQ(verdict.reason, api::reason::kLimitReached);
  }
}

TEST(SliceClaim, ClaimedSlicesAreNobodyElses) {
  const Borrower soft{"soft", 10, 1};
  ClaimWorld world({{"firm", 10, 0, false}, soft});
  const auto mine = world.make("mine", 5);
  const auto verdict = world.submit(mine);
  EXPECT_THAT(world.would_get(world.make("late", 1, "c")).nodes, IsEmpty());
  world.begin(mine, verdict);
  world.end("mine");
  EXPECT_THAT(world.would_get(world.make("later", 1, "c")).nodes, IsEmpty());
  world.leave(soft);
  EXPECT_THAT(world.would_get(world.make("large", 6, "c")).nodes, IsEmpty());
  EXPECT_THAT(world.would_get(world.make("small", 5, "d")).nodes, SizeIs(1));
}

TEST(SliceClaim, AJobThatMakesRoomAlreadyIsNotAskedAgain) {
  ClaimWorld world({{"s1", 10, 0}, {"s2", 10, 1}});
  const auto first = world.make("first", 5);
  const auto claim = world.submit(first);
  ASSERT_THAT(awaited(claim), SizeIs(1));
  world.begin(first, claim);
  world.end("first");
  world.clock().advance(seconds(2));
  const auto second = world.submit(world.make("second", 5));
  // The slices that the first one leaves are not enough: its victim has ten, but is not counted as gone yet.
  ASSERT_THAT(awaited(second), SizeIs(1));
  EXPECT_NE(awaited(second), awaited(claim));
}

TEST(SliceClaim, WaitsUntilTheGuardIsOver) {
  ClaimWorld world({{"s1", 10, 0}, {"s2", 10, 1, false}});
  auto mine = world.make("mine", 5);
  mine.metadata.creation_timestamp = world.clock().wall();
  EXPECT_THAT(world.submit(mine).nodes, IsEmpty());
  EXPECT_EQ(world.queue().until_claims("lab"), seconds(10));
  world.clock().advance(seconds(10));
  EXPECT_THAT(world.notify(), ElementsAre(mine.metadata.key()));
  EXPECT_THAT(awaited(world.ask(mine)), ElementsAre("uid-s1"));
}

TEST(SliceClaim, WhoCanClaimNothingHasALikelyStart) {
  ClaimWorld world({{"short", 10, 0, false, "b", 0, 4000}, {"long", 10, 1, false, "c", 0, 9000}});
  const auto job = world.make("waits", 5, "d");
  EXPECT_THAT(world.submit(job).nodes, IsEmpty());
  const auto seen = world.queue().first_turns("lab");
  ASSERT_TRUE(seen.has_value());
  planning::Budget budget;
  const auto found = planning::forecast_turns(*seen, {}, world.clock().wall(), budget);
  ASSERT_THAT(found, SizeIs(1));
  ASSERT_TRUE(found[0].start.has_value());
  EXPECT_EQ(std::chrono::round<seconds>(*found[0].start - world.clock().wall()), seconds(4000) - kLongAgo);
}

// V1: those that yield suffice, and none of them can be left out.
RC_GTEST_PROP(SliceClaim, TheJobsThatYieldAreFewest, ()) {
  std::vector<Borrower> all;
  std::int64_t room[] = {10, 10};
  const int count = *rc::gen::inRange(4, 10);
  for (int i = 0; i < count; ++i) {
    Borrower each{"s" + std::to_string(i), *rc::gen::inRange<std::int64_t>(2, 8), *rc::gen::inRange(0, 2),
                  *rc::gen::inRange(0, 3) > 0};
    if (room[each.gpu] < each.slices) continue;
    room[each.gpu] -= each.slices;
    all.push_back(std::move(each));
  }
  const auto slices = *rc::gen::inRange<std::int64_t>(1, 11);
  const auto without = [&](const std::vector<std::string>& uids) {
    auto left = all;
    std::erase_if(left, [&](const auto& each) { return std::ranges::count(uids, "uid-" + each.name) > 0; });
    ClaimWorld world(left);
    return world.submit(world.make("mine", slices));
  };
  const auto verdict = without({});
  RC_TAG(verdict.claim ? "claim" : verdict.nodes.empty() ? "none" : "room");
  const auto uids = awaited(verdict);
  if (!verdict.claim) return;
  const auto after = without(uids);
  RC_ASSERT(after.nodes == verdict.nodes);
  RC_ASSERT(!after.claim);
  for (const auto& kept : uids) {
    auto fewer = uids;
    std::erase(fewer, kept);
    const auto lacking = without(fewer);
    RC_ASSERT(lacking.nodes.empty() || lacking.claim);
  }
}

}  // namespace
}  // namespace gpupool::controllers
