// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/unit/device-plugin/nvidia/fake_driver.h"

namespace gpupool::nvidia {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(NvmlList, TellsWhatTheDriverTells) {
  const FakeDriver driver(R"({
    "driver": {"version": "560.35.03", "cuda": 12060},
    "gpus": [
      {"uuid": "GPU-a", "model": "NVIDIA A100-SXM4-40GB", "minor": 4, "pciBus": 101},
      {"uuid": "GPU-b", "model": "Tesla T4"}]})");
  const auto source = driver.source();
  const inventory::Inventory inventory = list_or_fail(*source);
  EXPECT_EQ(inventory.driver, (inventory::Driver{.version = "560.35.03", .cuda_version = "12.6"}));
  ASSERT_THAT(inventory.gpus, SizeIs(2));
  inventory::Gpu a100 = inventory.gpus[0];
  a100.links.clear();
  EXPECT_EQ(a100, (inventory::Gpu{.uuid = "GPU-a",
                                  .index = 0,
                                  .minor = 4,
                                  .model = "NVIDIA-A100-SXM4-40GB",
                                  .memory_mib = 40960,
                                  .compute_major = 8,
                                  .compute_minor = 0,
                                  .pci_bus_id = "00000000:65:00.0",
                                  .numa_node = -1,
                                  .mig_enabled = false,
                                  .mig_instances = {},
                                  .links = {}}));
  EXPECT_EQ(inventory.gpus[1].model, "Tesla-T4");
  EXPECT_EQ(inventory.gpus[1].index, 1);
  EXPECT_EQ(inventory.gpus[1].compute_minor, 5);
}

TEST(NvmlList, NumaNodeIsTheOneOfTheKernel) {
  FakeDriver driver(R"({"gpus": [{"pciBus": 101}, {"pciBus": 102}, {"pciBus": 103}]})");
  driver.write_sysfs("bus/pci/devices/0000:65:00.0/numa_node", "1\n");
  driver.write_sysfs("bus/pci/devices/0000:66:00.0/numa_node", "-1\n");
  const auto source = driver.source();
  EXPECT_THAT(list_or_fail(*source).gpus,
              ElementsAre(Field(&inventory::Gpu::numa_node, 1), Field(&inventory::Gpu::numa_node, -1),
                          Field(&inventory::Gpu::numa_node, -1)));
}

TEST(NvmlList, ADriverWithoutGpus) {
  const FakeDriver driver(R"({"gpus": []})");
  const auto source = driver.source();
  EXPECT_THAT(list_or_fail(*source).gpus, IsEmpty());
}

TEST(NvmlList, MigInstancesHaveTheirProfiles) {
  const FakeDriver driver(R"({"gpus": [
    {"model": "NVIDIA A100-SXM4-40GB", "mig": [
      {"profile": "3g.20gb", "uuid": "MIG-1", "gpuInstance": 2},
      {"profile": "1g.5gb+me", "uuid": "MIG-2", "gpuInstance": 1, "memoryMiB": 4864},
      {"profile": "1c.3g.20gb", "uuid": "MIG-3", "gpuInstance": 3, "computeInstance": 1}]},
    {"model": "NVIDIA A100-SXM4-40GB", "mig": []},
    {"model": "NVIDIA A100-SXM4-40GB"}]})");
  const auto source = driver.source();
  const inventory::Inventory inventory = list_or_fail(*source);
  ASSERT_THAT(inventory.gpus, SizeIs(3));
  EXPECT_TRUE(inventory.gpus[0].mig_enabled);
  EXPECT_THAT(inventory.gpus[0].mig_instances,
              ElementsAre(inventory::MigInstance{"MIG-2", "1g.5gb+me", 4864, 1, 0},
                          inventory::MigInstance{"MIG-1", "3g.20gb", 20480, 2, 0},
                          inventory::MigInstance{"MIG-3", "1c.3g.20gb", 20480, 3, 1}));
  EXPECT_TRUE(inventory.gpus[1].mig_enabled);
  EXPECT_THAT(inventory.gpus[1].mig_instances, IsEmpty());
  EXPECT_FALSE(inventory.gpus[2].mig_enabled);
}

TEST(NvmlList, ALostGpuIsMissingAndTheOthersStay) {
  FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a"}, {"uuid": "GPU-b"}]})");
  const auto source = driver.source();
  ASSERT_THAT(list_or_fail(*source).gpus, SizeIs(2));
  driver.say(R"({"gpus": [{"uuid": "GPU-a", "state": "lost"}, {"uuid": "GPU-b"}]})");
  EXPECT_THAT(list_or_fail(*source).gpus, ElementsAre(Field(&inventory::Gpu::uuid, "GPU-b")));
  EXPECT_FALSE(source->usage("GPU-a"));
  driver.say(R"({"gpus": [{"uuid": "GPU-a"}, {"uuid": "GPU-b"}]})");
  EXPECT_THAT(list_or_fail(*source).gpus, SizeIs(2));
}

TEST(NvmlList, AllGpusMayBeLost) {
  const FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a", "state": "lost"}]})");
  const auto source = driver.source();
  EXPECT_THAT(list_or_fail(*source).gpus, IsEmpty());
}

TEST(NvmlList, AGpuThatFailsIsListedAsBefore) {
  FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a", "usedMiB": 5}, {"uuid": "GPU-b"}]})");
  const auto source = driver.source();
  const inventory::Inventory before = list_or_fail(*source);
  driver.say(R"({"gpus": [{"uuid": "GPU-a", "state": "failing"}, {"uuid": "GPU-b"}]})");
  const inventory::Inventory after = list_or_fail(*source);
  ASSERT_THAT(after.gpus, SizeIs(2));
  EXPECT_EQ(after.gpus[0], before.gpus[0]);
}

TEST(NvmlList, AGpuThatNeverAnsweredIsLeftOut) {
  const FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a", "state": "failing"}, {"uuid": "GPU-b"}]})");
  const auto source = driver.source();
  EXPECT_THAT(list_or_fail(*source).gpus, ElementsAre(Field(&inventory::Gpu::uuid, "GPU-b")));
}

TEST(NvmlList, WhenNoneAnswersItIsTheDriver) {
  const FakeDriver driver(R"({"gpus": [{"state": "failing"}, {"state": "failing"}]})");
  const auto source = driver.source();
  const auto listed = source->list();
  ASSERT_FALSE(listed);
  EXPECT_THAT(listed.error().message, HasSubstr("Unknown Error (NVML error 999)"));
}

TEST(NvmlList, AnOldLibraryLacksReadingsAndNothingElse) {
  const FakeDriver driver(R"({"gpus": [{"uuid": "GPU-a", "model": "Tesla T4"}, {"uuid": "GPU-b"}]})");
  const auto source = driver.source(old_fake_library());
  const inventory::Inventory inventory = list_or_fail(*source);
  ASSERT_THAT(inventory.gpus, SizeIs(2));
  EXPECT_EQ(inventory.driver, inventory::Driver{});
  EXPECT_EQ(inventory.gpus[0].uuid, "GPU-a");
  EXPECT_EQ(inventory.gpus[0].model, "Tesla-T4");
  EXPECT_EQ(inventory.gpus[0].memory_mib, 15360);
  EXPECT_EQ(inventory.gpus[0].pci_bus_id, "");
  EXPECT_EQ(inventory.gpus[0].links[0].distance, inventory::Distance::kSystem);
  const auto usage = source->usage("GPU-a");
  ASSERT_TRUE(usage);
  EXPECT_EQ(usage->memory_used_mib, 0);
  EXPECT_FALSE(usage->power_milliwatts);
  EXPECT_EQ(source->probe("GPU-a").result, inventory::Probe::Result::kAlive);
  EXPECT_THAT(source->wait_events(std::chrono::milliseconds(1), {}), IsEmpty());
}

}  // namespace
}  // namespace gpupool::nvidia
