// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/device-plugin/agent/fake_node.h"

namespace gpupool::test {
namespace {

namespace fs = std::filesystem;
using inventory::Probe;
using testing::HasSubstr;

constexpr std::uint64_t kPassingXid = 74;  // clean probes are enough

class LifeTest : public testing::Test {
 protected:
  LifeTest() { world_.gpus.install(2); }
  static agent::Inbox::Mail xid(const std::string& gpu, std::uint64_t number) {
    return {.errors = {{gpu, number}}, .reload = false};
  }

  Life::World world_;
};

TEST_F(LifeTest, AdvertisesTheSlicesOfAllGpus) {
  const Life life(world_);
  EXPECT_EQ(life.count(), 20U);
  EXPECT_EQ(life.healthy(), 20);
  EXPECT_EQ(life.snapshot().facts.problem, "");
}

TEST_F(LifeTest, Checklist16ARestartedPluginKnowsTheSizeOfSlicesInUse) {
  world_.configure("version: v1\ndeviceSplitCount: 5\n");
  {
    const Life life(world_);
  }
  world_.pods.hold({"GPU-0::1"});
  world_.configure("version: v1\ndeviceSplitCount: 10\n");
  Life life(world_);
  life.look(5);
  int on_first = 0;
  for (const auto& slice : life.resource()->slices) {
    on_first += slice.gpu == "GPU-0" ? 1 : 0;
    EXPECT_EQ(slice.memory_mib, slice.gpu == "GPU-0" ? 2400 : 1200) << slice.id;
  }
  EXPECT_EQ(on_first, 5);
  EXPECT_THAT(life.snapshot().facts.problem, HasSubstr("until all of them are free"));
  world_.pods.hold({});
  life.look(5);
  EXPECT_EQ(life.count(), 20U);
  EXPECT_EQ(life.healthy(), 20);
  EXPECT_EQ(life.snapshot().facts.problem, "");
}

TEST_F(LifeTest, Checklist17ShrinkingWaitsForSlicesInUse) {
  Life life(world_);
  world_.pods.hold({"GPU-0::7"});
  life.look();
  world_.configure("version: v1\ndeviceSplitCount: 5\n");
  life.reload();
  life.look(5);
  EXPECT_EQ(life.healthy("GPU-0"), 1) << "only the one in use";
  EXPECT_EQ(life.healthy("GPU-1"), 5);
  world_.pods.hold({});
  life.look(3);
  EXPECT_EQ(life.healthy("GPU-0"), 5);
}

TEST_F(LifeTest, Checklist17NothingShrinksWhileTheKubeletIsSilent) {
  Life life(world_);
  world_.pods.silence();
  world_.configure("version: v1\ndeviceSplitCount: 5\n");
  life.reload();
  life.look(20);
  EXPECT_EQ(life.count(), 20U);
}

// The kubelet has allocated and podresources does not tell yet.
TEST_F(LifeTest, Checklist17NothingShrinksJustAfterAnAllocation) {
  Life life(world_);
  world_.configure("version: v1\ndeviceSplitCount: 5\n");
  for (int i = 0; i < 5; ++i) {
    {
      const auto pass = life.gate.enter();
    }
    life.look({.errors = {}, .reload = i == 0});
    EXPECT_EQ(life.healthy(), 20) << i;
  }
  life.look(6);
  EXPECT_EQ(life.healthy(), 10);
}

TEST_F(LifeTest, Checklist17AnAllocationWhilePodsAreListedCounts) {
  Life life(world_);
  world_.configure("version: v1\ndeviceSplitCount: 5\n");
  world_.pods.meanwhile([&] { const auto pass = life.gate.enter(); });
  life.reload();
  EXPECT_EQ(life.healthy(), 20);
}

TEST_F(LifeTest, Checklist20AnXidTakesAllSlicesOfItsGpuAndCleanProbesBringThemBack) {
  Life life(world_);
  life.look(xid("GPU-1", kPassingXid));
  EXPECT_EQ(life.healthy("GPU-0"), 10);
  EXPECT_EQ(life.healthy("GPU-1"), 0);
  EXPECT_EQ(life.count(), 20U);
  life.look(60);
  EXPECT_EQ(life.healthy("GPU-1"), 10);
}

TEST_F(LifeTest, Checklist20ALostGpuRecovers) {
  Life life(world_);
  world_.gpus.answer("GPU-1", {.result = Probe::Result::kLost, .detail = "fallen off the bus"});
  life.look();
  EXPECT_EQ(life.healthy("GPU-1"), 0);
  world_.gpus.answer("GPU-1", {});
  life.look(30);
  EXPECT_EQ(life.healthy("GPU-1"), 10);
}

TEST_F(LifeTest, Checklist20WithoutItsDriverAllIsUnhealthyUntilItIsBack) {
  Life life(world_);
  world_.gpus.uninstall("the driver was unloaded");
  life.look();
  EXPECT_EQ(life.count(), 20U) << "the capacity stays";
  EXPECT_EQ(life.healthy(), 0);
  EXPECT_THAT(life.snapshot().facts.problem, HasSubstr("the driver was unloaded"));
  EXPECT_TRUE(life.snapshot().facts.inventory.driver.version.empty());
  world_.gpus.reload_driver("560.1");
  life.look(30);
  EXPECT_EQ(life.healthy(), 20);
  EXPECT_EQ(life.snapshot().facts.problem, "");
}

TEST_F(LifeTest, Checklist20AReloadedDriverEndsWhatLastsUntilAReset) {
  Life life(world_);
  life.look(xid("GPU-1", 79));
  life.look(60);
  EXPECT_EQ(life.healthy("GPU-1"), 0);
  world_.gpus.reload_driver("550.54.15");
  life.look(30);
  EXPECT_EQ(life.healthy("GPU-1"), 10);
}

TEST_F(LifeTest, Checklist20ASickGpuIsStillSickAfterARestart) {
  {
    Life life(world_);
    life.look(xid("GPU-1", 79));
    ASSERT_EQ(life.healthy("GPU-1"), 0);
  }
  Life life(world_);
  EXPECT_EQ(life.healthy("GPU-0"), 10);
  EXPECT_EQ(life.healthy("GPU-1"), 0);
}

TEST_F(LifeTest, Checklist21AGpuThatFlapsChangesNothingInBetween) {
  Life life(world_);
  life.look(xid("GPU-1", kPassingXid));
  const auto before = life.version();
  for (int i = 0; i < 10; ++i) {
    life.look();
    world_.gpus.answer("GPU-1", {.result = Probe::Result::kFailing, .detail = "busy"});
    life.look();
    world_.gpus.answer("GPU-1", {});
  }
  EXPECT_EQ(life.version(), before);
}

TEST_F(LifeTest, Checklist23TheFirstTableIsComplete) {
  world_.gpus.answer("GPU-1", {.result = Probe::Result::kLost, .detail = "gone"});
  const Life life(world_);
  EXPECT_EQ(life.version(), 1U) << "a GPU is probed before it is advertised";
  EXPECT_EQ(life.healthy("GPU-0"), 10);
  EXPECT_EQ(life.healthy("GPU-1"), 0);
}

TEST_F(LifeTest, Checklist24PutsBackTheLimitsFilesOfRunningContainers) {
  const auto limits = world_.folder.path() + "/state/limits";
  world_.pods.hold({"GPU-0::3"});
  {
    const Life life(world_);
  }
  ASSERT_TRUE(fs::exists(limits));
  ASSERT_FALSE(fs::is_empty(limits));
  fs::remove_all(limits);
  const Life life(world_);
  EXPECT_FALSE(fs::is_empty(limits));
}

TEST_F(LifeTest, Checklist27KeepsWhatContainersHoldAndRemovesTheRestADayLater) {
  const auto limits = world_.folder.path() + "/state/limits";
  world_.pods.hold({"GPU-0::3"});
  Life life(world_);
  ASSERT_TRUE(life.limits.put({"left-over", "x"}));
  const auto age = [&](const std::string& path) {
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(24 * 3650));
  };
  life.look(61);
  EXPECT_TRUE(fs::exists(limits + "/left-over"));
  for (const auto& entry : fs::directory_iterator(limits)) age(entry.path());
  life.look(61);
  EXPECT_FALSE(fs::exists(limits + "/left-over"));
  EXPECT_FALSE(fs::is_empty(limits));
}

TEST_F(LifeTest, Checklist28TheSameConfigurationAgainIsNoNews) {
  Life life(world_);
  const auto before = life.version();
  world_.configure("version: v1\n# a comment\ndeviceSplitCount: 10\n");
  life.reload();
  EXPECT_EQ(life.version(), before);
}

TEST_F(LifeTest, Checklist28ABadFileKeepsTheLastGoodOneAndIsLoud) {
  Life life(world_);
  world_.configure("version: v1\ndeviceSplitCount: many\n");
  life.reload();
  life.look(3);
  EXPECT_EQ(life.healthy(), 20);
  EXPECT_THAT(life.snapshot().facts.problem, HasSubstr("deviceSplitCount"));
  EXPECT_THAT(life.reported.back().problem, HasSubstr("last good one"));
  EXPECT_THAT(life.metrics.expose(), HasSubstr("gpupool_plugin_config_ok 0"));
  world_.configure("version: v1\ndeviceSplitCount: 4\n");
  life.reload();
  life.look(3);
  EXPECT_EQ(life.healthy(), 8);
  EXPECT_EQ(life.snapshot().facts.problem, "");
  EXPECT_THAT(life.metrics.expose(), HasSubstr("gpupool_plugin_config_ok 1"));
}

// It reads well, but no GPU here can be cut so.
TEST_F(LifeTest, Checklist28ACutThatCannotBeKeepsTheLastGoodOne) {
  Life life(world_);
  world_.configure("version: v1\ndeviceSplitCount: 100\ndeviceCoreScaling: 0.1\n");
  life.reload();
  life.look(3);
  EXPECT_EQ(life.healthy(), 20);
  EXPECT_THAT(life.snapshot().settings_problem, HasSubstr("last good one"));
}

TEST_F(LifeTest, ABadFileAtTheStartAdvertisesNothingAndWaitsForAGoodOne) {
  world_.configure("rubbish: [");
  Life life(world_);
  EXPECT_EQ(life.count(), 0U);
  EXPECT_THAT(life.snapshot().settings_problem, HasSubstr("nothing is advertised"));
  world_.configure("version: v1\n");
  life.reload();
  EXPECT_EQ(life.healthy(), 20);
}

// What containers hold must be known again once the file is mended.
TEST_F(LifeTest, ABadFileAtTheStartForgetsNoSlices) {
  world_.configure("version: v1\ndeviceSplitCount: 5\n");
  {
    const Life life(world_);
  }
  world_.pods.hold({"GPU-0::1"});
  world_.configure("rubbish: [");
  {
    Life life(world_);
    life.look(3);
  }
  world_.configure("version: v1\n");
  Life life(world_);
  life.look(3);
  EXPECT_EQ(life.healthy("GPU-0"), 1);
}

TEST_F(LifeTest, WithoutADriverItStaysUpAndFindsItWhenItComes) {
  world_.gpus.uninstall("no such library");
  Life life(world_);
  EXPECT_EQ(life.count(), 0U);
  EXPECT_THAT(life.metrics.expose(), HasSubstr("gpupool_plugin_driver_present 0"));
  EXPECT_THAT(life.reported.back().problem, HasSubstr("no such library"));
  world_.gpus.install(2);
  life.look();
  EXPECT_EQ(life.healthy(), 20);
  EXPECT_THAT(life.metrics.expose(), HasSubstr("gpupool_plugin_driver_present 1"));
}

TEST_F(LifeTest, AStateDirectoryThatCannotBeWrittenIsToldAndStopsNothing) {
  fs::create_directories(world_.folder.path() + "/state/table.json/in-the-way");
  const Life life(world_);
  EXPECT_EQ(life.healthy(), 20);
  EXPECT_THAT(life.snapshot().facts.problem, HasSubstr("table.json"));
}

TEST_F(LifeTest, ABrokenStateFileIsLeftAside) {
  fs::create_directories(world_.folder.path() + "/state");
  std::ofstream(world_.folder.path() + "/state/table.json") << "{\"format\":";
  std::ofstream(world_.folder.path() + "/state/health.json") << "rubbish";
  const Life life(world_);
  EXPECT_EQ(life.healthy(), 20);
}

}  // namespace
}  // namespace gpupool::test
