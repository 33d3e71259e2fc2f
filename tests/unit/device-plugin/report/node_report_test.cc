// SPDX-License-Identifier: Apache-2.0
#include "report/node_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/device-plugin/report/facts.h"

namespace gpupool::report {
namespace {

using test::facts;
using test::holding;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

api::GpuNodeStatus status_of(const Facts& facts) { return make_status(facts, "1.2.3"); }

void make_unhealthy(Facts& facts, const std::string& uuid) {
  facts.health[uuid] = test::unhealthy("Xid79", "fell off the bus");
  for (auto& slice : facts.table.resources[0].slices) {
    if (slice.gpu != uuid) continue;
    slice.healthy = false;
    slice.unhealthy_reason = "Xid79";
  }
}

TEST(NodeReport, AnIdleNodeOffersAllItsSlices) {
  const auto status = status_of(facts(2, 10));
  EXPECT_EQ(status.plugin_version, "1.2.3");
  EXPECT_EQ(status.driver_version, "550.54.15");
  EXPECT_EQ(status.cuda_version, "12.4");
  EXPECT_EQ(status.message, "");
  EXPECT_FALSE(status.last_report.has_value());
  EXPECT_EQ(status.gpu_counts, (api::GpuNodeCounts{2, 2}));
  EXPECT_EQ(status.slice_counts, (api::GpuNodeSliceCounts{20, 20}));
  ASSERT_THAT(status.gpus, SizeIs(2));
  const api::GpuNodeGpu expected{.uuid = "GPU-1",
                                 .index = 1,
                                 .model = "NVIDIA-L4",
                                 .memory_mib = 16000,
                                 .compute_capability = "8.9",
                                 .numa_node = -1,
                                 .mig = false,
                                 .health = "Healthy",
                                 .reason = "",
                                 .resource_name = "gpupool.dev/vgpu",
                                 .slices = {10, 10, 1600, 10},
                                 .pods = {}};
  EXPECT_EQ(status.gpus[1], expected);
  ASSERT_THAT(status.conditions, SizeIs(1));
  EXPECT_EQ(status.conditions[0].type, "Ready");
  EXPECT_EQ(status.conditions[0].status, "True");
  EXPECT_EQ(status.conditions[0].reason, "GpusOffered");
}

TEST(NodeReport, AWholeGpuIsOneSlice) {
  auto given = facts(1, 1);
  given.holdings = {holding("train", {"0"})};
  const auto status = status_of(given);
  EXPECT_EQ(status.gpus[0].slices, (api::GpuNodeSlices{1, 0, 16000, 100}));
  EXPECT_THAT(status.gpus[0].pods, ElementsAre(api::GpuNodePod{"lab", "train", 1}));
}

TEST(NodeReport, SlicesOfAPodsContainersAddUpForEachGpu) {
  auto given = facts(2, 10);
  given.holdings = {holding("b", {"0::3", "1::0"}), holding("a", {"0::1"}), holding("b", {"0::4"})};
  const auto status = status_of(given);
  EXPECT_THAT(status.gpus[0].pods,
              ElementsAre(api::GpuNodePod{"lab", "a", 1}, api::GpuNodePod{"lab", "b", 2}));
  EXPECT_THAT(status.gpus[1].pods, ElementsAre(api::GpuNodePod{"lab", "b", 1}));
  EXPECT_EQ(status.gpus[0].slices.free, 7);
  EXPECT_EQ(status.slice_counts, (api::GpuNodeSliceCounts{20, 16}));
}

TEST(NodeReport, PodsOfOneNameInTwoNamespacesAreTwo) {
  auto given = facts(1, 10);
  given.holdings = {holding("a", {"0::0"}), holding("a", {"0::1"})};
  given.holdings[1].ns = "another";
  EXPECT_THAT(status_of(given).gpus[0].pods,
              ElementsAre(api::GpuNodePod{"another", "a", 1}, api::GpuNodePod{"lab", "a", 1}));
}

TEST(NodeReport, ASickGpuHasNoFreeSlicesAndSaysWhy) {
  auto given = facts(3, 10);
  make_unhealthy(given, "GPU-1");
  const auto status = status_of(given);
  EXPECT_EQ(status.gpu_counts, (api::GpuNodeCounts{3, 2}));
  EXPECT_EQ(status.slice_counts, (api::GpuNodeSliceCounts{30, 20}));
  EXPECT_EQ(status.gpus[1].health, "Unhealthy");
  EXPECT_EQ(status.gpus[1].reason, "Xid79: fell off the bus");
  EXPECT_EQ(status.message, "GPU 1 is unhealthy: Xid79: fell off the bus");
  EXPECT_EQ(status.conditions[0].status, "True");
  EXPECT_EQ(status.conditions[0].reason, "Degraded");
}

TEST(NodeReport, WithoutAHealthyGpuTheNodeIsNotReady) {
  auto given = facts(2, 10);
  make_unhealthy(given, "GPU-0");
  make_unhealthy(given, "GPU-1");
  const auto status = status_of(given);
  EXPECT_EQ(status.conditions[0].status, "False");
  EXPECT_EQ(status.conditions[0].reason, "NothingOffered");
  EXPECT_THAT(status.message, HasSubstr("; 1 more are unhealthy"));
}

TEST(NodeReport, AGpuThatTheDriverLostIsStillShown) {
  auto given = facts(3, 10);
  given.inventory.gpus.erase(given.inventory.gpus.begin() + 1);
  make_unhealthy(given, "GPU-1");
  given.health["GPU-7"] = test::unhealthy("Lost", "");
  const auto status = status_of(given);
  ASSERT_THAT(status.gpus, SizeIs(4));
  EXPECT_EQ(status.gpus[1].uuid, "GPU-1");
  EXPECT_EQ(status.gpus[1].index, 1);
  EXPECT_EQ(status.gpus[3].uuid, "GPU-7");
  EXPECT_EQ(status.gpus[3].index, -1);
  EXPECT_EQ(status.gpus[3].reason, "Lost");
  EXPECT_EQ(status.gpu_counts, (api::GpuNodeCounts{4, 2}));
}

TEST(NodeReport, WithoutADriverItSaysSo) {
  Facts given;
  given.problem = "no driver: libnvidia-ml.so.1: cannot open shared object file";
  const auto status = status_of(given);
  EXPECT_THAT(status.gpus, IsEmpty());
  EXPECT_EQ(status.message, given.problem);
  EXPECT_EQ(status.conditions[0].status, "False");
  EXPECT_EQ(status.conditions[0].reason, "NoDriver");
  EXPECT_EQ(status.conditions[0].message, given.problem);
}

TEST(NodeReport, ADriverWithoutGpusIsNotReady) {
  Facts given;
  given.inventory.driver = {"550.54.15", "12.4"};
  EXPECT_EQ(status_of(given).conditions[0].reason, "NoGpus");
}

TEST(NodeReport, AProblemComesBeforeSickGpus) {
  auto given = facts(1, 10);
  make_unhealthy(given, "GPU-0");
  given.problem = "the configuration is bad";
  EXPECT_EQ(status_of(given).message, "the configuration is bad");
}

TEST(NodeReport, AGpuThatIsNotOfferedSaysWhy) {
  auto given = facts(2, 10);
  given.table.resources.clear();
  given.inventory.gpus[0].mig_enabled = true;
  const auto status = status_of(given);
  EXPECT_EQ(status.gpus[0].resource_name, "");
  EXPECT_THAT(status.gpus[0].reason, HasSubstr("MIG"));
  EXPECT_EQ(status.gpus[1].reason, "not offered");
  EXPECT_EQ(status.conditions[0].reason, "NothingOffered");
}

TEST(NodeReport, MigInstancesPromiseWhatTheSmallestHas) {
  Facts given;
  given.inventory.driver = {"550.54.15", "12.4"};
  given.inventory.gpus = {test::gpu("GPU-0", 0)};
  given.inventory.gpus[0].mig_enabled = true;
  given.table.resources = {test::resource("nvidia.com/mig-1g.5gb"), test::resource("nvidia.com/mig-3g.20gb")};
  given.table.resources[0].slices = {test::slice("MIG-a", "GPU-0", 5000, 14)};
  given.table.resources[1].slices = {test::slice("MIG-b", "GPU-0", 20000, 43)};
  given.holdings = {
      {.ns = "lab", .pod = "p", .container = "c", .resource = "nvidia.com/mig-1g.5gb", .ids = {"MIG-a"}}};
  const auto status = status_of(given);
  EXPECT_EQ(status.gpus[0].resource_name, "nvidia.com/mig-1g.5gb,nvidia.com/mig-3g.20gb");
  EXPECT_EQ(status.gpus[0].slices, (api::GpuNodeSlices{2, 1, 5000, 14}));
  EXPECT_THAT(status.gpus[0].pods, ElementsAre(api::GpuNodePod{"lab", "p", 1}));
  EXPECT_TRUE(status.gpus[0].mig);
}

TEST(NodeReport, APodWithASliceThatIsNoLongerOfferedIsShown) {
  auto given = facts(1, 4);
  given.holdings = {holding("old", {"0::9"})};
  const auto status = status_of(given);
  EXPECT_THAT(status.gpus[0].pods, ElementsAre(api::GpuNodePod{"lab", "old", 1}));
  EXPECT_EQ(status.gpus[0].slices.free, 4);
}

TEST(NodeReport, SlicesThatWaitForTheirUsersSayWhyOnAHealthyGpu) {
  auto given = facts(1, 4);
  given.table.resources[0].slices[2].healthy = false;
  given.table.resources[0].slices[2].unhealthy_reason = "waits until slices in use are free";
  const auto status = status_of(given);
  EXPECT_EQ(status.gpus[0].health, "Healthy");
  EXPECT_EQ(status.gpus[0].reason, "waits until slices in use are free");
  EXPECT_EQ(status.gpus[0].slices, (api::GpuNodeSlices{4, 3, 4000, 25}));
}

TEST(NodeReport, StaysWithinTheBoundsOfTheDefinition) {
  auto given = facts(70, 1);
  given.problem = std::string(100'000, 'x');
  given.health["GPU-0"] = test::unhealthy(std::string(100'000, 'y'), "");
  for (int pod = 0; pod < 150; ++pod) given.holdings.push_back(holding("p" + std::to_string(pod), {"1"}));
  const auto status = status_of(given);
  EXPECT_THAT(status.gpus, SizeIs(64));
  EXPECT_EQ(status.gpu_counts.total, 70);
  EXPECT_THAT(status.gpus[1].pods, SizeIs(100));
  EXPECT_LT(status.message.size(), 32768U);
  EXPECT_LT(status.gpus[0].reason.size(), 4096U);
}

}  // namespace
}  // namespace gpupool::report
