// SPDX-License-Identifier: Apache-2.0
// The annotation gpupool.dev/restart on jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/reasons.h"
#include "tests/unit/job-life/nothing_left.h"
#include "tests/unit/job-life/world.h"

namespace gpupool::planning {
namespace {

using test::Ending;
using test::World;
using testing::HasSubstr;
using testing::IsEmpty;
namespace phase = api::phase;
namespace reason = api::reason;

World lasting(std::int64_t gpus) {
  World world(gpus, {"a", "b", "c"});
  world.ending = [](std::int64_t attempt, std::int64_t) {
    return attempt == 0 ? Ending::kNever : Ending::kSuccess;
  };
  return world;
}

void expect_restarted(const World& world, const std::string& token) {
  const auto& status = world.job.status;
  EXPECT_EQ(status.phase, phase::kSucceeded);
  EXPECT_EQ(status.attempts, 2);
  EXPECT_EQ(status.failures, 0);
  ASSERT_TRUE(status.progress);
  EXPECT_EQ(status.progress->restarted, token);
  EXPECT_EQ(status.progress->history.front().cause, reason::kMoving);
  EXPECT_THAT(world.broken, IsEmpty());
}

TEST(Restart, EachTokenIsCarriedOutOnce) {
  for (const std::int64_t gpus : {1, 2}) {
    World world = lasting(gpus);
    ASSERT_TRUE(world.run([&] { return world.running(); }));
    const auto nodes = world.job.status.lease->nodes;
    world.ask_restart("one");
    ASSERT_TRUE(world.run([&] { return world.job.status.attempts == 2; }));
    EXPECT_EQ(world.job.status.lease->nodes, nodes);
    ASSERT_TRUE(world.run());
    expect_restarted(world, "one");
    expect_nothing_left(world);
  }
}

TEST(Restart, PicksUpAChangedTemplate) {
  World world = lasting(1);
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  const auto hash = world.job.status.lease->spec_hash;
  world.change_spec([](auto& spec) {
    const auto at = spec.pod_template.text.find("\"command\":[");
    ASSERT_NE(at, std::string::npos);
    spec.pod_template.text.insert(at + 11, "\"nice\",");
  });
  ASSERT_TRUE(world.run([&] { return world.condition("Stalled").status == "True"; }));
  EXPECT_EQ(world.job.status.reason, reason::kSpecChanged);
  world.ask_restart("two");
  ASSERT_TRUE(world.run([&] { return world.job.status.attempts == 2; }));
  EXPECT_NE(world.job.status.lease->spec_hash, hash);
  ASSERT_TRUE(world.run());
  expect_restarted(world, "two");
}

TEST(Restart, WithATemplateThatCannotRunIsRefused) {
  World world = lasting(1);
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.change_spec([](auto& spec) { spec.pod_template.text = R"({"spec":{"containers":[]}})"; });
  world.ask_restart("bad");
  ASSERT_TRUE(world.run([&] { return world.condition("Stalled").status == "True"; }));
  EXPECT_THAT(world.job.status.message, HasSubstr("the workers run on"));
  EXPECT_EQ(world.job.status.attempts, 1);
  const auto later = world.now + std::chrono::minutes(10);
  world.run([&] { return world.now > later; });
  EXPECT_EQ(world.job.status.attempts, 1);
}

TEST(Restart, WithPodsThatTheServerRefusesIsRefused) {
  World world = lasting(1);
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.pods_blocked = api::Problem{reason::kTemplateRefused, "no such name"};
  world.ask_restart("bad");
  ASSERT_TRUE(world.run([&] { return world.condition("Stalled").status == "True"; }));
  EXPECT_THAT(world.job.status.message, HasSubstr("the workers run on: no such name"));
  const auto later = world.now + std::chrono::minutes(10);
  world.run([&] { return world.now > later; });
  EXPECT_EQ(world.job.status.attempts, 1);
  EXPECT_TRUE(world.running());
  world.pods_blocked.reset();  // it is tried again by itself
  ASSERT_TRUE(world.run());
  expect_restarted(world, "bad");
}

TEST(Restart, SoonAfterAnother) {
  World world = lasting(1);
  world.ending = [](std::int64_t attempt, std::int64_t) {
    return attempt < 2 ? Ending::kNever : Ending::kSuccess;
  };
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  for (const std::int64_t attempt : {1, 2}) {
    world.ask_restart(std::to_string(attempt));
    const auto later = world.now + std::chrono::seconds(20);
    ASSERT_TRUE(world.run([&] { return world.job.status.attempts == attempt + 1; }));
    EXPECT_LT(world.now, later);
  }
}

TEST(Restart, IsWhatAnotherNumberOfGpusWaitsFor) {
  for (const std::int64_t gpus : {1, 2}) {
    World world = lasting(gpus);
    ASSERT_TRUE(world.run([&] { return world.running(); }));
    world.change_spec([&](auto& spec) { spec.gpus = 3 - gpus; });
    ASSERT_TRUE(world.run([&] { return world.condition("Stalled").status == "True"; }));
    const auto later = world.now + std::chrono::minutes(10);
    world.run([&] { return world.now > later; });
    EXPECT_EQ(world.job.status.attempts, 1);
    world.ask_restart("more");
    ASSERT_TRUE(world.run());
    expect_restarted(world, "more");
  }
}

TEST(Restart, OnOtherNodesGoesThroughTheQueue) {
  World world = lasting(1);
  world.job.spec.nodes = {"a"};
  ASSERT_TRUE(world.run([&] { return world.running(); }));
  world.change_spec([](auto& spec) { spec.nodes = {"c"}; });
  world.ask_restart("three");
  ASSERT_TRUE(world.run([&] { return world.job.status.attempts == 2; }));
  EXPECT_EQ(world.job.status.lease->nodes.at(0).name, "c");
  ASSERT_TRUE(world.run());
  expect_restarted(world, "three");
}

TEST(Restart, AskedBeforeTheStartIsDoneByTheStart) {
  World world = lasting(1);
  world.ask_restart("early");
  world.ending = [](std::int64_t, std::int64_t) { return Ending::kSuccess; };
  ASSERT_TRUE(world.run());
  EXPECT_EQ(world.job.status.phase, phase::kSucceeded);
  EXPECT_EQ(world.job.status.attempts, 1);
  EXPECT_EQ(world.job.status.progress->restarted, "early");
}

}  // namespace
}  // namespace gpupool::planning
