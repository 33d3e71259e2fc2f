// SPDX-License-Identifier: Apache-2.0
// What waiting jobs of a pool with spec.queue are told of their place and start.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "planning/forecast/turn_forecast.h"
#include "tests/unit/turns/turn_world.h"

namespace gpupool::planning {
namespace {

using std::chrono::seconds;
using test::at;
using test::TurnWorld;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> names(const std::vector<const WaitingLine::Entry*>& entries) {
  std::vector<std::string> found;
  for (const auto* entry : entries) found.push_back(entry->position().key.name);
  return found;
}

std::vector<std::string> places(TurnWorld& world, std::size_t most = kPlacesFound) {
  return names(world.state().first_places(most, {}));
}

// Tells the first jobs their place, with this start.
std::vector<api::ObjectKey> tell(TurnWorld& world, std::optional<base::WallTime> start = std::nullopt) {
  std::vector<Expected> found;
  for (const auto* entry : world.state().first_places(kPlacesFound, {}))
    found.push_back({entry->position().key, start});
  auto& turns = *world.state().turns();
  turns.take_forecast(found, world.state().line());
  return turns.take_replaced();
}

api::JobQueueStatus told(TurnWorld& world, const std::string& name) { return *world.verdict(name).turn; }

TEST(Places, FollowTheOrderOfTheTurns) {
  TurnWorld world({}, 1);
  world.submit("runs", {.ns = "a"});
  world.submit("a1", {.ns = "a"});
  world.submit("a2", {.ns = "a"});
  world.submit("b1", {.ns = "b"});
  world.submit("large", {.ns = "b", .workers = 2});
  // a1 was there first: it is first in line. Then b comes, which holds nothing. `large` never starts.
  EXPECT_THAT(places(world), ElementsAre("a1", "b1", "a2"));
  EXPECT_THAT(places(world, 2), ElementsAre("a1", "b1"));
  EXPECT_EQ(world.state().first_in_line()->name, "a1");
}

TEST(Places, AreToldInSteps) {
  EXPECT_EQ(told_place(1), 1);
  EXPECT_EQ(told_place(10), 10);
  EXPECT_EQ(told_place(11), 20);
  EXPECT_EQ(told_place(21), 50);
  EXPECT_EQ(told_place(51), 100);
  EXPECT_EQ(told_place(100), 100);
  EXPECT_EQ(told_place(101), 0);
}

TEST(Places, ChangeAtMostOnceAMinute) {
  TurnWorld world({}, 1);
  for (int i = 0; i < 4; ++i) world.submit("j" + std::to_string(i), {});
  EXPECT_EQ(tell(world).size(), 3U);
  EXPECT_EQ(told(world, "j3").place, 3);
  EXPECT_THAT(tell(world), IsEmpty());
  world.advance(30);
  world.end("j0");  // now j1 runs
  EXPECT_THAT(tell(world), IsEmpty());
  EXPECT_EQ(told(world, "j3").place, 3);
  world.advance(30);
  EXPECT_EQ(tell(world).size(), 2U);
  EXPECT_EQ(told(world, "j3").place, 2);
}

TEST(Places, OfThousandsCostNothing) {
  TurnWorld world({}, 1);
  world.submit("runs", {});
  for (std::uint64_t i = 0; i < 300; ++i) {
    const auto job = test::make_job("j" + std::to_string(1000 + i), 1);
    const auto turn = world.state().turns()->turn_of(job, 0);
    world.state().put_waiting(test::share(job), 10 + i, {}, turn);
  }
  EXPECT_EQ(tell(world).size(), kPlacesTold);
  world.advance(100);
  // Who was the last to be told keeps that as long as it is among those that are looked at.
  EXPECT_THAT(tell(world), IsEmpty());
}

TEST(Starts, AreToldAnewIfTheyDifferByAFifth) {
  TurnWorld world({}, 1);
  world.submit("runs", {});
  world.submit("waits", {});
  EXPECT_EQ(tell(world, at(10'000)).size(), 1U);
  EXPECT_EQ(told(world, "waits").estimated_start, at(10'000));
  EXPECT_EQ(told(world, "waits").basis, api::estimate_basis::kHistory);
  world.advance(100);
  EXPECT_THAT(tell(world, at(11'000)), IsEmpty());
  EXPECT_EQ(tell(world, at(13'000)).size(), 1U);
  world.advance(100);
  EXPECT_EQ(tell(world).size(), 1U);
  EXPECT_EQ(told(world, "waits").estimated_start, std::nullopt);
  EXPECT_EQ(told(world, "waits").basis, "");
}

// The state of a pool is made anew whenever a list is read again.
TEST(Starts, OutliveANewState) {
  auto job = test::make_job("waits", 1);
  job.status.progress.emplace().queue =
      api::JobQueueStatus{"ns", {}, {}, 7, at(5000), api::estimate_basis::kHistory};
  ToldPlaces fresh;
  api::JobQueueStatus turn{"ns", {}, {}};
  fresh.show(job, turn);
  EXPECT_EQ(turn.place, 7);
  EXPECT_EQ(turn.estimated_start, at(5000));
  WaitingLine line;
  line.put(test::share(job), 1);
  std::vector<Expected> found;
  for (int i = 0; i < 6; ++i) found.push_back({{"ns", "before" + std::to_string(i)}, std::nullopt});
  found.push_back({job.metadata.key(), at(5000)});
  EXPECT_EQ(fresh.update(found, line, at(0)).size(), 6U);  // not the job
  EXPECT_THAT(fresh.update({}, line, at(100)), testing::Contains(job.metadata.key()));
  turn = {"ns", {}, {}};
  fresh.show(job, turn);
  EXPECT_EQ(turn.place, 0);
}

// A pool with nodes of one GPU, and who is there.
struct Scene {
  TurnSnapshot queue;
  std::uint64_t arrivals = 0;

  Scene(std::size_t nodes, api::PoolQueueSpec spec = {}) {
    auto pool = test::make_pool();
    pool.spec.queue = std::move(spec);
    queue.pool = test::share(std::move(pool));
    for (std::size_t i = 0; i < nodes; ++i)
      queue.nodes.push_back(test::make_pool_node(test::make_node("n" + std::to_string(100 + i), 1)));
  }
  static api::GpuJob job(const std::string& name, std::int64_t workers, std::int64_t deadline) {
    auto job = test::make_job(name, workers);
    job.metadata.creation_timestamp = at(0);
    if (deadline > 0) job.spec.active_deadline_seconds = deadline;
    return job;
  }
  void hold(std::size_t node, std::int64_t deadline) {
    auto holder = job("h" + std::to_string(node), 1, deadline);
    holder.status.start_time = at(0);
    auto& pool_node = queue.nodes[node];
    pool_node.leased = true;
    queue.holders.push_back({{test::share(std::move(holder)), {{pool_node.name, "", 1}}}, "ns", kMilli});
  }
  void wait(const std::string& name, std::int64_t workers, std::int64_t deadline) {
    auto waiter = test::share(job(name, workers, deadline));
    queue.shares["ns"].tenant.name = "ns";
    queue.waiters.push_back({waiter, ++arrivals, {}, {"ns", 0, deadline, deadline > 0 ? 60 : 0}});
  }
  std::map<std::string, std::int64_t> starts() {
    Budget budget;
    std::map<std::string, std::int64_t> found;
    for (const auto& each : forecast_turns(queue, {}, at(100), budget))
      found[each.job.name] =
          each.start ? std::chrono::duration_cast<seconds>(*each.start - at(0)).count() : -1;
    return found;
  }
};

TEST(TurnForecast, FollowsThePlan) {
  Scene scene(2);
  scene.hold(0, 1000);
  scene.hold(1, 5000);
  scene.wait("a", 1, 600);
  scene.wait("both", 2, 600);
  scene.wait("c", 1, 600);
  const auto starts = scene.starts();
  EXPECT_EQ(starts.at("a"), 1000);
  EXPECT_EQ(starts.at("c"), 1600);  // ends before n101 is free, for which `both` has to wait
  EXPECT_EQ(starts.at("both"), 5000);
}

TEST(TurnForecast, IsNotKnownBehindAJobWithoutAnEnd) {
  Scene scene(2);
  scene.hold(0, 1000);
  scene.hold(1, 0);
  scene.wait("both", 2, 600);
  scene.wait("short", 1, 600);
  const auto starts = scene.starts();
  EXPECT_EQ(starts.at("both"), -1);
}

TEST(TurnForecast, StopsWithTheBudget) {
  Scene scene(1);
  scene.hold(0, 1000);
  scene.wait("a", 1, 600);
  Budget none([] { return true; });
  for (const auto& each : forecast_turns(scene.queue, {}, at(0), none)) EXPECT_EQ(each.start, std::nullopt);
}

// As statuses have times: a fraction would be written again and again.
TEST(TurnForecast, TellsWholeSeconds) {
  Scene scene(1);
  scene.hold(0, 10);
  scene.wait("a", 1, 600);
  Budget budget;
  const auto found = forecast_turns(scene.queue, {}, at(200) + std::chrono::milliseconds(500), budget);
  EXPECT_EQ(found.front().start, at(200));
}

TEST(TurnForecast, OfHeldNodesKeepsTheLimit) {
  api::PoolQueueSpec spec;
  spec.tenants.push_back({"ns", {"ns"}, 1, 0, 1, {}});
  Scene scene(2, spec);
  scene.hold(0, 1000);
  scene.wait("a", 1, 600);
  scene.queue.shares["ns"].tenant.limit = kMilli;
  scene.queue.shares["ns"].held = kMilli;
  EXPECT_EQ(scene.starts().at("a"), 1000);  // although a node is free
}

// A sharing pool with one GPU of ten slices.
struct SliceScene : Scene {
  SliceScene() : Scene(0) {
    auto pool = test::make_sharing_pool("lab");
    pool.spec.queue.emplace();
    queue.pool = test::share(std::move(pool));
    auto& node = queue.shared.emplace_back();
    node.node = test::make_pool_node(test::make_node("shared", 2));
    node.marked = true;
    node.gpus.push_back({0, "A100", 16000, {10, 1600, 10}, true, 10, 10});
    node.advertised = 10;
  }
  void hold_slices(const std::string& name, std::int64_t slices, std::int64_t deadline) {
    auto holder = slice_job(name, slices, deadline);
    holder.status.start_time = at(0);
    queue.shared[0].gpus[0].free -= slices;
    queue.shared[0].held += slices;
    queue.holders.push_back(
        {{test::share(std::move(holder)), {{"shared", "", 1}}, slices}, "ns", slices * kMilli / 10});
    queue.shares["ns"].held += slices * kMilli / 10;
  }
  void wait_for_slices(const std::string& name, std::int64_t slices, std::int64_t deadline) {
    queue.shares["ns"].tenant.name = "ns";
    queue.waiters.push_back({test::share(slice_job(name, slices, deadline)),
                             ++arrivals,
                             {},
                             {"ns", 0, deadline, deadline > 0 ? 60 : 0}});
  }

 private:
  static api::GpuJob slice_job(const std::string& name, std::int64_t slices, std::int64_t deadline) {
    auto made = job(name, 1, deadline);
    made.spec.pool = "lab";
    made.spec.slice = api::JobSlice{"", {}, slices};
    return made;
  }
};

TEST(TurnForecast, OfSlicesFollowsThePlan) {
  SliceScene scene;
  scene.hold_slices("h1", 6, 1000);
  scene.hold_slices("h2", 3, 5000);
  scene.wait_for_slices("first", 7, 600);
  scene.wait_for_slices("second", 1, 300);
  scene.wait_for_slices("large", 10, 600);
  const auto starts = scene.starts();
  EXPECT_EQ(starts.at("second"), 100) << "one slice is free, and its turn comes first: it is shorter";
  EXPECT_EQ(starts.at("first"), 1000);
  EXPECT_EQ(starts.at("large"), 5000);
}

TEST(TurnForecast, OfSlicesKeepsTheLimit) {
  SliceScene scene;
  scene.hold_slices("h1", 5, 1000);
  scene.wait_for_slices("a", 5, 600);
  scene.queue.shares["ns"].tenant.limit = kMilli * 6 / 10;
  EXPECT_EQ(scene.starts().at("a"), 1000) << "although five slices are free";
}

TEST(TurnForecast, OfSlicesIsNotKnownBehindAJobWithoutAnEnd) {
  SliceScene scene;
  scene.hold_slices("h1", 6, 0);
  scene.wait_for_slices("a", 7, 600);
  EXPECT_EQ(scene.starts().at("a"), -1);
}

// E1: whatever is estimated, only what the queue promises is called a bound, and it is never exceeded. Also,
// who only waits is told nothing new because time goes by.
RC_GTEST_PROP(TurnForecastProperties, BoundsAreNeverExceeded, ()) {
  const auto nodes = *rc::gen::inRange<std::int64_t>(1, 6);
  api::PoolQueueSpec spec;
  spec.backfill = *rc::gen::inRange(0, 4) > 0;
  for (const auto* name : {"a", "b"})
    spec.tenants.push_back({name, {name}, *rc::gen::inRange<std::int64_t>(1, 4), 0, {}, {}});
  TurnWorld world(spec, static_cast<std::size_t>(nodes));
  std::map<std::string, base::WallTime> bounds;
  std::vector<std::string> submitted;
  const auto note = [&] {
    tell(world, at(world.now() + *rc::gen::inRange<std::int64_t>(-100, 5000)));
    for (const auto& name : submitted) {
      if (!world.waits(name)) continue;
      const auto turn = told(world, name);
      RC_ASSERT((turn.basis == "") == !turn.estimated_start.has_value());
      if (turn.basis != api::estimate_basis::kBounds) continue;
      const auto known = bounds.try_emplace(name, *turn.estimated_start).first;
      known->second = std::min(known->second, *turn.estimated_start);
    }
  };
  const auto count = *rc::gen::inRange(1, 20);
  for (int i = 0; i < count; ++i) {
    TurnWorld::Job job;
    job.ns = *rc::gen::element<std::string>("a", "b", "c");
    job.workers = *rc::gen::inRange<std::int64_t>(1, nodes + 1);
    job.runs = *rc::gen::inRange<std::int64_t>(1, 4000);
    if (*rc::gen::inRange(0, 4) > 0) job.deadline = job.runs + *rc::gen::inRange<std::int64_t>(0, 3000);
    job.priority = *rc::gen::inRange<std::int64_t>(0, 3);
    submitted.push_back("j" + std::to_string(i));
    world.submit(submitted.back(), job);
    note();
    world.advance(*rc::gen::inRange<std::int64_t>(0, 1500));
    note();
  }
  for (int i = 0; i < 10 * count && world.running() > 0; ++i) world.advance(3000);
  for (const auto& [name, bound] : bounds) RC_ASSERT(at(*world.started(name)) <= bound);
}

}  // namespace
}  // namespace gpupool::planning
