// SPDX-License-Identifier: Apache-2.0
// Crashes the operator before and after each of its writes. What a new operator finds must lead to the same
// end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "api/v1alpha1/reasons.h"
#include "tests/unit/job-life/claim_worlds.h"
#include "tests/unit/job-life/world.h"

namespace gpupool::planning {
namespace {

using test::Ending;
using test::World;
using testing::IsEmpty;
namespace phase = api::phase;

// One scenario: how the world is set up and what happens in it. Returns the world after it has come to rest.
struct Story {
  const char* name;
  std::int64_t gpus;
  std::function<void(World&)> begin;
  std::function<bool(World&)> tell;
};

bool just_run(World& world) { return world.run(); }

// Crashes change the numbers of later writes, so a scenario waits for conditions, not for numbers of turns.
const std::vector<Story>& stories() {
  static const std::vector<Story> kAll = {
      {"OneGpu", 1, [](World&) {}, just_run},
      {"Gang", 3, [](World&) {}, just_run},
      {"CrashOnce", 2,
       [](World& world) {
         world.ending = [](std::int64_t attempt, std::int64_t rank) {
           return attempt == 0 && rank == 1 ? Ending::kCrash : Ending::kSuccess;
         };
       },
       just_run},
      {"CrashAlways", 1,
       [](World& world) {
         world.job.spec.backoff_limit = 1;
         world.ending = [](std::int64_t, std::int64_t) { return Ending::kCrash; };
       },
       just_run},
      {"Evicted", 2,
       [](World& world) {
         world.ending = [](std::int64_t attempt, std::int64_t) {
           return attempt == 0 ? Ending::kEvicted : Ending::kSuccess;
         };
       },
       just_run},
      {"SuspendedAndResumed", 2,
       [](World& world) { world.ending = [](std::int64_t, std::int64_t) { return Ending::kNever; }; },
       [](World& world) {
         if (!world.run([&] { return world.running(); })) return false;
         world.change_spec([](auto& spec) { spec.suspend = true; });
         if (!world.run([&] { return world.job.status.phase == phase::kSuspended; })) return false;
         world.ending = [](std::int64_t, std::int64_t) { return Ending::kSuccess; };
         world.change_spec([](auto& spec) { spec.suspend = false; });
         return world.run();
       }},
      {"NodeLost", 2,
       [](World& world) {
         world.ending = [](std::int64_t attempt, std::int64_t) {
           return attempt == 0 ? Ending::kNever : Ending::kSuccess;
         };
       },
       [](World& world) {
         if (!world.run([&] { return world.running(); })) return false;
         world.lose_node("b");
         world.now += std::chrono::seconds(31);
         if (!world.run([&] { return world.job.status.phase == phase::kSucceeded; })) return false;
         world.recover_node("b");
         return world.run([&] { return !world.job.status.lease && world.pods.empty(); });
       }},
      {"Drained", 2,
       [](World& world) {
         world.job.spec.checkpoint.emplace();
         world.ending = [](std::int64_t attempt, std::int64_t) {
           return attempt == 0 ? Ending::kNever : Ending::kSuccess;
         };
         world.exit_when_told = [](std::int64_t, std::int64_t) { return 0; };
         world.saved = [](std::int64_t attempt, std::int64_t) {
           return R"({"step":)" + std::to_string(100 + attempt) + "}";
         };
       },
       [](World& world) {
         if (!world.run([&] { return world.running(); })) return false;
         world.drain_node("b");
         return world.run([&] { return world.job.status.phase == phase::kSucceeded; }) && world.run();
       }},
      {"DrainedToTheQueue", 3,
       [](World& world) {
         world.job.spec.checkpoint.emplace();
         world.ending = [](std::int64_t attempt, std::int64_t) {
           return attempt == 0 ? Ending::kNever : Ending::kSuccess;
         };
         world.exit_when_told = [](std::int64_t, std::int64_t) { return 0; };
         world.saved = [](std::int64_t, std::int64_t) { return std::string(R"({"step":7,"path":"p"})"); };
       },
       [](World& world) {
         if (!world.run([&] { return world.running(); })) return false;
         world.drain_node("b", "1970-01-01T00:00:01Z");
         if (!world.run([&] { return world.job.status.phase == phase::kQueued; })) return false;
         world.end_drain("b");
         return world.run();
       }},
      {"DrainedSlices", 2,
       [](World& world) {
         world.share(4);
         world.job.spec.checkpoint.emplace();
         world.ending = [](std::int64_t attempt, std::int64_t) {
           return attempt == 0 ? Ending::kNever : Ending::kSuccess;
         };
         world.exit_when_told = [](std::int64_t, std::int64_t) { return 0; };
         world.saved = [](std::int64_t attempt, std::int64_t rank) {
           return R"({"step":)" + std::to_string(10 * attempt + rank) + "}";
         };
       },
       [](World& world) {
         if (!world.run([&] { return world.running(); })) return false;
         world.drain_node("a");
         if (!world.run([&] { return world.job.status.attempts == 2 || !world.job.status.lease; }))
           return false;
         world.end_drain("a");
         return world.run();
       }},
      {"RestartAsked", 2,
       [](World& world) {
         world.job.spec.checkpoint.emplace();
         world.ending = [](std::int64_t attempt, std::int64_t) {
           return attempt == 0 ? Ending::kNever : Ending::kSuccess;
         };
         world.exit_when_told = [](std::int64_t, std::int64_t) { return 0; };
       },
       [](World& world) {
         if (!world.run([&] { return world.running(); })) return false;
         world.ask_restart("1");
         return world.run();
       }},
      {"Yielded", 1,
       [](World& world) {
         world.job.spec.checkpoint.emplace();
         world.ending = [](std::int64_t attempt, std::int64_t) {
           return attempt == 0 ? Ending::kYielded : Ending::kSuccess;
         };
         world.saved = [](std::int64_t attempt, std::int64_t) {
           return R"({"step":)" + std::to_string(1 + attempt) + "}";
         };
       },
       just_run},
      {"FinishedWhenSuspended", 2,
       [](World& world) {
         world.job.spec.checkpoint.emplace();
         world.ending = [](std::int64_t, std::int64_t) { return Ending::kNever; };
       },
       [](World& world) {
         if (!world.run([&] { return world.running(); })) return false;
         // The operator suspends before it sees that the workers end.
         world.change_spec([](auto& spec) { spec.suspend = true; });
         if (!world.run([&] { return world.job.status.phase == phase::kReleasing; })) return false;
         world.ending = [](std::int64_t, std::int64_t) { return Ending::kSuccess; };
         world.exit_when_told = world.exit_when_told;
         return world.run();
       }},
      {"MakesRoom", 2,
       [](World& world) {
         test::take_turns(world);
         world.job.spec.checkpoint.emplace();
         world.ending = [](std::int64_t attempt, std::int64_t) {
           return attempt == 0 ? Ending::kNever : Ending::kSuccess;
         };
         world.exit_when_told = [](std::int64_t, std::int64_t) { return 0; };
         world.saved = [](std::int64_t, std::int64_t) { return std::string(R"({"step":7,"path":"p"})"); };
       },
       [](World& world) {
         if (!world.run([&] { return world.running(); })) return false;
         test::claim_node(world);
         if (!world.run([&] { return world.job.status.phase == phase::kQueued; })) return false;
         world.neighbours.clear();
         return world.run();
       }},
      {"Claims", 2, [](World& world) { test::give_claim(world); },
       [](World& world) {
         const auto awaits = [&] {
           const auto& lease = world.job.status.lease;
           return lease && lease->state == api::lease_state::kAwaiting;
         };
         if (!world.run(awaits) || !awaits()) return false;
         world.neighbours.clear();
         return world.run();
       }},
      {"Slices", 1, [](World& world) { world.share(3); }, just_run},
      {"SliceGang", 3, [](World& world) { world.share(4); }, just_run},
      {"SourceAndResults", 3,
       [](World& world) {
         world.job.spec.source =
             base::json::RawJson{R"({"items":[{"path":"a","http":{"url":"https://x/a"}}]})"};
         world.job.spec.results =
             base::json::RawJson{R"([{"from":"/gpupool/work/a","to":{"s3":{"bucket":"abc"}}}])"};
         world.ending = [](std::int64_t attempt, std::int64_t rank) {
           return attempt == 0 && rank == 1 ? Ending::kCrash : Ending::kSuccess;
         };
       },
       just_run},
      {"SourceFails", 2,
       [](World& world) {
         world.job.spec.source =
             base::json::RawJson{R"({"items":[{"path":"a","http":{"url":"https://x/a"}}]})"};
         world.source_report = [](std::int64_t) {
           return std::string(R"({"version":1,"reason":"SourceDenied","message":"a: 403"})");
         };
       },
       just_run},
      {"Refused", 3,
       [](World& world) {
         world.share(4);
         world.refuse = [&world] { return world.job.status.attempts < 2; };
       },
       just_run},
      {"Deleted", 2,
       [](World& world) { world.ending = [](std::int64_t, std::int64_t) { return Ending::kNever; }; },
       [](World& world) {
         if (!world.run([&] { return world.running(); })) return false;
         world.delete_job();
         return world.run([&] { return !world.job_exists && world.pods.empty(); });
       }},
  };
  return kAll;
}

World make_world(const Story& story, bool priced) {
  World world(story.gpus, {"a", "b", "c"});
  story.begin(world);
  if (priced) world.set_prices();
  return world;
}

std::string end_of(const World& world) {
  if (!world.job_exists) return "gone";
  const auto& status = world.job.status;
  return status.phase.string() + " " + status.reason + " attempts " + std::to_string(status.attempts) +
         " failures " + std::to_string(status.failures) + " workers " +
         std::to_string(status.workers.succeeded);
}

// A story, and whether its pool has prices.
class CrashAnywhere : public testing::TestWithParam<std::tuple<std::size_t, bool>> {};

TEST_P(CrashAnywhere, EndsAsIfNothingHadHappened) {
  const auto& [number_of_story, priced] = GetParam();
  const auto& story = stories().at(number_of_story);
  World calm = make_world(story, priced);
  ASSERT_TRUE(story.tell(calm));
  EXPECT_THAT(calm.broken, IsEmpty());
  ASSERT_GT(calm.writes, 5);
  for (int number = 1; number <= calm.writes; ++number) {
    for (const bool after : {false, true}) {
      World world = make_world(story, priced);
      world.crash_at = {number, after};
      SCOPED_TRACE(std::string("crash ") + (after ? "after" : "before") + " write " + std::to_string(number));
      ASSERT_TRUE(story.tell(world));
      EXPECT_EQ(end_of(world), end_of(calm));
      EXPECT_THAT(world.broken, IsEmpty());
      EXPECT_THAT(world.tainted(), IsEmpty());
      EXPECT_THAT(world.pods, IsEmpty());
      EXPECT_THAT(world.children_at_work(), IsEmpty());
      EXPECT_EQ(world.starts.size(), calm.starts.size());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stories, CrashAnywhere,
                         testing::Combine(testing::Range<std::size_t>(0, stories().size()), testing::Bool()),
                         [](const auto& each) {
                           return std::string(stories().at(std::get<0>(each.param)).name) +
                                  (std::get<1>(each.param) ? "Priced" : "");
                         });

// Crashes, slow controllers and all kinds of ends at once. The outcome depends on the random numbers; that it
// ends and keeps the promises (docs/protocol.md#promises) does not.
RC_GTEST_PROP(JobProperty, NothingBreaksThePromises, ()) {
  World world(*rc::gen::inRange<std::int64_t>(1, 4), {"a", "b", "c"});
  world.job.spec.backoff_limit = *rc::gen::inRange<std::int64_t>(0, 4);
  if (*rc::gen::arbitrary<bool>()) world.share(*rc::gen::inRange<std::int64_t>(1, 11));
  if (*rc::gen::arbitrary<bool>()) world.set_prices();
  const auto endings = *rc::gen::container<std::vector<Ending>>(
      20, rc::gen::element(Ending::kSuccess, Ending::kSuccess, Ending::kCrash, Ending::kDeleted,
                           Ending::kEvicted));
  const auto dice = *rc::gen::container<std::vector<int>>(200, rc::gen::inRange(0, 12));
  std::size_t rolls = 0;
  std::size_t ends = 0;
  // The random numbers are finite, so that every world comes to an end.
  const auto roll = [&] { return rolls < dice.size() ? dice[rolls++] : 6; };
  world.ending = [&](std::int64_t, std::int64_t) {
    return ends < endings.size() ? endings[ends++] : Ending::kSuccess;
  };
  world.crash_now = [&]() -> std::optional<bool> {
    const int rolled = roll();
    return rolled < 2 ? std::optional(rolled == 1) : std::nullopt;
  };
  world.hesitate = [&] { return roll() < 4; };
  world.refuse = [&] { return roll() < 2; };
  const auto lateness = *rc::gen::inRange(0, 13);
  // Not in a sharing pool, where nodes stay open to the ranks of a gang.
  if (!world.pool->spec.sharing) world.late = [&] { return rolls < dice.size() && roll() < lateness; };
  RC_ASSERT(world.run());
  RC_ASSERT(world.broken == std::vector<std::string>{});
  RC_ASSERT(world.job.finished());
  RC_ASSERT(world.tainted().empty());
  RC_ASSERT(world.pods.empty());
  RC_ASSERT(world.children_at_work().empty());
  RC_ASSERT(world.job.status.failures <= world.job.spec.backoff_limit + 1);
}

// What must hold between each status and the next one (docs/protocol.md#yield).
std::string broken_between(const api::GpuJobStatus& before, const api::GpuJobStatus& after) {
  const auto step_of = [](const api::GpuJobStatus& status) {
    return status.progress && status.progress->checkpoint ? status.progress->checkpoint->step : -1;
  };
  if (after.attempts < before.attempts || after.attempts > before.attempts + 1) return "attempts";
  if (step_of(after) < step_of(before)) return "the step goes back";
  const bool yields = after.reason == api::reason::kDraining || after.reason == api::reason::kMoving ||
                      after.reason == api::reason::kYielded;
  if (yields && after.failures != before.failures) return "a yield is charged";
  if (after.progress && after.progress->history.size() > api::kMaxHistory) return "history";
  if (after.phase == phase::kQueued && !after.lease && after.start_time) return "the clock runs in the queue";
  return "";
}

// People drain nodes, take that back, and ask for restarts, while the operator crashes.
RC_GTEST_PROP(JobProperty, NoWorkIsLost, ()) {
  World world(*rc::gen::inRange<std::int64_t>(1, 4), {"a", "b", "c", "d"});
  world.job.spec.checkpoint.emplace();
  if (*rc::gen::arbitrary<bool>()) world.share(*rc::gen::inRange<std::int64_t>(1, 11));
  if (*rc::gen::arbitrary<bool>()) world.job.spec.node_replacement = api::node_replacement::kNever;
  const auto dice = *rc::gen::container<std::vector<int>>(300, rc::gen::inRange(0, 20));
  std::size_t rolls = 0;
  const auto roll = [&] { return rolls < dice.size() ? dice[rolls++] : 19; };
  std::int64_t told = 0;
  world.ending = [&](std::int64_t, std::int64_t) {
    if (rolls >= dice.size()) return Ending::kSuccess;
    return roll() == 0 ? Ending::kYielded : Ending::kNever;
  };
  world.exit_when_told = [&](std::int64_t, std::int64_t) { return 0; };
  world.saved = [&](std::int64_t, std::int64_t) { return R"({"step":)" + std::to_string(++told) + "}"; };
  world.crash_now = [&]() -> std::optional<bool> {
    const int rolled = roll();
    return rolled < 2 ? std::optional(rolled == 1) : std::nullopt;
  };
  int tokens = 0;
  world.hesitate = [&] {
    const int rolled = roll();
    const std::string node(1, static_cast<char>('a' + rolled % 4));
    if (rolled < 4) world.drain_node(node, rolled % 2 == 0 ? "" : "1970-01-01T00:00:01Z");
    if (rolled >= 4 && rolled < 8) world.end_drain(node);
    if (rolled == 8) world.ask_restart(std::to_string(++tokens));
    return rolled == 9 || rolled == 10;
  };
  for (int i = 0; i < 20 && !world.job.finished(); ++i) {
    world.run();
    for (const char* node : {"a", "b", "c", "d"}) world.end_drain(node);
    if (i >= 10) rolls = dice.size();
  }
  RC_ASSERT(world.broken == std::vector<std::string>{});
  RC_ASSERT(world.job.status.phase == phase::kSucceeded);
  RC_ASSERT(world.job.status.failures == 0);
  RC_ASSERT(world.tainted().empty());
  RC_ASSERT(world.pods.empty());
  for (std::size_t i = 1; i < world.history.size(); ++i)
    RC_ASSERT(broken_between(world.history[i - 1], world.history[i]) == "");
}

}  // namespace
}  // namespace gpupool::planning
