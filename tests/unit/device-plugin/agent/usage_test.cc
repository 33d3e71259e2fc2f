// SPDX-License-Identifier: Apache-2.0
// The use of the GPUs as the plugin counts it, over restarts of the plugin and of the machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>

#include "agent/exposition.h"
#include "agent/usage_watch.h"
#include "tests/unit/device-plugin/agent/fake_node.h"

namespace gpupool::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;

class UsageTest : public testing::Test {
 protected:
  UsageTest() { world_.gpus.install(2); }
  static telemetry::BusyTime busy(const Life& life, const std::string& gpu = "GPU-0") {
    return life.snapshot().facts.telemetry.busy.at(gpu);
  }
  std::string path() const { return world_.folder.path() + "/state/usage.json"; }

  Life::World world_;
};

TEST_F(UsageTest, ReportAndMetricsShowWhatALookHasRead) {
  Life life(world_);
  world_.gpus.use(50);
  life.look(10);
  const auto& telemetry = life.reported.back().telemetry;
  EXPECT_EQ(telemetry.taken, world_.clock.wall());
  EXPECT_EQ(telemetry.readings.at("GPU-1").gpu_percent, 50);
  EXPECT_EQ(telemetry.busy.at("GPU-1").busy, seconds(5));
  EXPECT_EQ(telemetry.busy.at("GPU-1").sampled, seconds(10));
  EXPECT_THAT(expose(life.snapshot()), HasSubstr("gpupool_gpu_busy_seconds_total{gpu=\"GPU-1\"} 5.000\n"));
}

TEST_F(UsageTest, ARestartedPluginCountsOn) {
  std::optional<telemetry::BusyTime> before;
  {
    Life life(world_);
    life.look(20);
    before = busy(life);
  }
  EXPECT_EQ(before->sampled, seconds(20));
  world_.clock.advance(seconds(30));
  Life life(world_);
  EXPECT_EQ(busy(life), *before) << "nobody has looked meanwhile";
  world_.gpus.use(100);
  life.look(10);
  EXPECT_EQ(busy(life).busy, before->busy + seconds(10));
  EXPECT_EQ(busy(life).since, before->since);
}

TEST_F(UsageTest, TheFileIsNeverBehindWhatWasReported) {
  Life life(world_);
  for (int i = 0; i < 5; ++i) {
    life.look();
    telemetry::BusyTimes saved;
    ASSERT_TRUE(saved.restore(agent::BootFile(path()).read().value().value(), agent::read_boot_id()));
    EXPECT_EQ(saved.all(), life.reported.back().telemetry.busy);
  }
}

TEST_F(UsageTest, AnotherBootBeginsAnewAndSaysSince) {
  const auto state = world_.folder.path() + "/state";
  const auto look = [&](agent::UsageWatch& usage) {
    world_.clock.advance(seconds(1));
    EXPECT_TRUE(usage.look({{"GPU-0", {.gpu_percent = 100}}}, world_.clock.now(), world_.clock.wall()));
    return usage.telemetry().busy.at("GPU-0");
  };
  telemetry::BusyTime before;
  {
    agent::UsageWatch usage(state, "boot-1", base::Log::none());
    for (int i = 0; i < 5; ++i) before = look(usage);
  }
  agent::UsageWatch usage(state, "boot-2", base::Log::none());
  const auto after = look(usage);
  EXPECT_EQ(after.busy, seconds(0));
  EXPECT_GT(after.since, before.since);
}

TEST_F(UsageTest, ABrokenFileBeginsAnew) {
  {
    Life life(world_);
    life.look(5);
  }
  std::ofstream(path(), std::ios::trunc) << "{\"version\": 1, \"gp";
  Life life(world_);
  EXPECT_EQ(busy(life).busy, seconds(0));
  life.look(5);
  EXPECT_EQ(busy(life).sampled, seconds(5));
  EXPECT_EQ(life.snapshot().facts.problem, "");
}

TEST_F(UsageTest, WithoutADriverThereIsNothingNewAndNothingLost) {
  Life life(world_);
  life.look(10);
  const auto before = busy(life);
  world_.gpus.uninstall("the driver was unloaded");
  life.look(60);
  EXPECT_FALSE(life.snapshot().facts.telemetry.taken);
  EXPECT_THAT(life.snapshot().facts.telemetry.readings, IsEmpty());
  EXPECT_EQ(busy(life), before);
  world_.gpus.reload_driver("560.1");
  life.look(11);
  EXPECT_EQ(busy(life).sampled, before.sampled + seconds(10));
  EXPECT_EQ(busy(life).since, before.since);
}

// As with maxSurge in the update strategy of the DaemonSet.
TEST_F(UsageTest, OfTwoPluginsOneCountsAndTheOtherShowsTheSame) {
  std::optional<Life> old(std::in_place, world_);
  old->look(10);
  Life fresh(world_);
  EXPECT_EQ(busy(fresh), busy(*old));
  for (int i = 0; i < 5; ++i) {
    old->look();
    fresh.agent.look({}, {});
    EXPECT_EQ(busy(fresh), busy(*old));
  }
  const auto before = busy(*old);
  EXPECT_EQ(before.sampled, seconds(16)) << "with the second of the first look of the other";
  old.reset();
  fresh.look(11);
  EXPECT_EQ(busy(fresh).sampled, before.sampled + seconds(10));
}

TEST_F(UsageTest, CountersThatCannotBeSavedAreToldAndStayUnseen) {
  Life life(world_);
  life.look(10);
  const auto saved = busy(life);
  std::filesystem::rename(path(), path() + ".away");
  std::filesystem::create_directory(path());
  life.look(10);
  EXPECT_THAT(life.snapshot().facts.problem, HasSubstr("usage.json"));
  EXPECT_EQ(busy(life), saved);
  EXPECT_EQ(life.snapshot().facts.telemetry.taken, world_.clock.wall()) << "readings are told";
  std::filesystem::remove(path());
  life.look();
  EXPECT_EQ(life.snapshot().facts.problem, "");
  EXPECT_EQ(busy(life).sampled, seconds(21));
}

TEST_F(UsageTest, APluginThatDiesAfterABadWriteIsNotAheadOfTheNextOne) {
  std::optional<telemetry::BusyTime> seen;
  {
    Life life(world_);
    life.look(10);
    std::filesystem::rename(path(), path() + ".away");
    std::filesystem::create_directory(path());
    life.look(10);
    seen = busy(life);
  }
  std::filesystem::remove(path());
  std::filesystem::rename(path() + ".away", path());
  const Life life(world_);
  EXPECT_EQ(busy(life), *seen);
}

TEST_F(UsageTest, WithoutTheFileOfTheOldPluginTheNewOneBeginsAnew) {
  std::optional<Life> old(std::in_place, world_);
  old->look(10);
  Life fresh(world_);
  EXPECT_EQ(busy(fresh), busy(*old));
  const auto before = busy(*old);
  old.reset();
  std::filesystem::remove(path());
  fresh.look();
  EXPECT_EQ(busy(fresh).busy, seconds(0));
  EXPECT_GT(busy(fresh).since, before.since);
}

}  // namespace
}  // namespace gpupool::test
