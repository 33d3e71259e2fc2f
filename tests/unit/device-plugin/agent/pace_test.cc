// SPDX-License-Identifier: Apache-2.0
// How often the agent asks the driver: each second, whatever the kubelet does meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "tests/unit/device-plugin/agent/fake_node.h"

namespace gpupool::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Calls = FakeGpus::Calls;
using testing::HasSubstr;

constexpr Calls kOneLook{.list = 1, .probe = 2, .usage = 2};
constexpr Calls kNone{};

class PaceTest : public testing::Test {
 protected:
  PaceTest() { world_.gpus.install(2); }
  // What a look of that time and mail asks the driver.
  Calls look(base::Duration later, const agent::Inbox::Mail& mail = {}) {
    const auto before = world_.gpus.calls();
    world_.clock.advance(later);
    life_.agent.look(mail, {});
    const auto after = world_.gpus.calls();
    return {.list = after.list - before.list,
            .probe = after.probe - before.probe,
            .usage = after.usage - before.usage};
  }

  Life::World world_;
  Life life_{world_};
};

TEST_F(PaceTest, EachSecondEachGpuIsAskedOnce) {
  for (int i = 0; i < 5; ++i) EXPECT_EQ(look(seconds(1)), kOneLook);
}

TEST_F(PaceTest, TheLookAfterAnAllocationReadsPodsOnly) {
  world_.pods.hold({"GPU-0::1"});
  EXPECT_EQ(look(milliseconds(250)), kNone);
  EXPECT_EQ(life_.snapshot().facts.holdings.size(), 1U);
  EXPECT_EQ(life_.snapshot().taken, world_.clock.now());
}

TEST_F(PaceTest, FrequentAllocationsPutNothingOff) {
  for (int i = 0; i < 5; ++i) {
    for (int quarter = 1; quarter < 4; ++quarter) EXPECT_EQ(look(milliseconds(250)), kNone);
    EXPECT_EQ(look(milliseconds(250)), kOneLook);
  }
}

TEST_F(PaceTest, AnErrorOrAReloadIsLookedAtAtOnce) {
  EXPECT_EQ(look(milliseconds(1), {.errors = {{"GPU-1", 79}}, .reload = false}), kOneLook);
  EXPECT_EQ(life_.healthy("GPU-1"), 0);
  EXPECT_EQ(look(milliseconds(1), {.errors = {}, .reload = true}), kOneLook);
}

TEST_F(PaceTest, AnAllocationDoesNotHideThatCountersCannotBeSaved) {
  const auto file = world_.folder.path() + "/state/usage.json";
  std::filesystem::remove(file);
  std::filesystem::create_directory(file);
  look(seconds(1));
  EXPECT_THAT(life_.snapshot().facts.problem, HasSubstr("usage.json"));
  look(milliseconds(250));
  EXPECT_THAT(life_.snapshot().facts.problem, HasSubstr("usage.json"));
  std::filesystem::remove(file);
  look(milliseconds(750));
  EXPECT_EQ(life_.snapshot().facts.problem, "");
}

TEST_F(PaceTest, TheLoopWaitsForTheNextLookAtGpus) {
  Life life(world_, false);
  const auto began = world_.clock.now();
  const std::jthread loop([&](std::stop_token stop) { life.agent.run(std::move(stop)); });
  ASSERT_TRUE(world_.clock.wait_for_deadline(began + seconds(1)));
  const auto first = world_.gpus.calls();
  life.inbox.look_soon(began + milliseconds(900));
  ASSERT_TRUE(world_.clock.wait_for_deadline(began + milliseconds(900)));
  world_.clock.advance(milliseconds(900));
  ASSERT_TRUE(world_.clock.wait_for_deadline(began + seconds(1)));
  EXPECT_EQ(world_.gpus.calls(), first);
  world_.clock.advance(milliseconds(100));
  ASSERT_TRUE(world_.clock.wait_for_deadline(began + seconds(2)));
  EXPECT_EQ(world_.gpus.calls().list, first.list + 1);
}

}  // namespace
}  // namespace gpupool::test
