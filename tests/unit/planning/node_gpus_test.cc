// SPDX-License-Identifier: Apache-2.0
#include "planning/nodes/node_gpus.h"
#include "planning/nodes/lease_marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/v1alpha1/names.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using test::make_node;
constexpr std::int64_t kGiB = 1024LL * 1024 * 1024;

PoolNode describe(const api::Node& node) { return describe_node(node, test::kGpus); }

TEST(DescribeNode, CountsAllocatableOfThePoolsResource) {
  auto node = make_node("a", 3);
  EXPECT_EQ(describe(node).gpus, 3);
  EXPECT_EQ(describe_node(node, "amd.com/gpu").gpus, 0);
  node.status.allocatable[test::kGpus] = "many";
  EXPECT_EQ(describe(node).gpus, 0);
}

TEST(DescribeNode, ReadsOurLabelsBeforeNvidias) {
  auto node = make_node("a");
  node.metadata.labels = {{api::kNvidiaModelLabel, "N"}, {api::kNvidiaMemoryLabel, "16384"}};
  EXPECT_EQ(describe(node).model, "N");
  EXPECT_EQ(describe(node).memory, 16 * kGiB) << "NVIDIA's is in MiB";
  node.metadata.labels[api::kGpuModelLabel] = "O";
  node.metadata.labels[api::kGpuMemoryLabel] = "24Gi";
  EXPECT_EQ(describe(node).model, "O");
  EXPECT_EQ(describe(node).memory, 24 * kGiB);
}

TEST(DescribeNode, ReadsTheLabelsOfAmdForItsResources) {
  auto node = make_node("a");
  node.metadata.labels = {{"amd.com/gpu.product-name", "AMD_Instinct_MI300X_OAM"},
                          {"amd.com/gpu.vram", "192G"},
                          {api::kNvidiaModelLabel, "N"},
                          {api::kNvidiaMemoryLabel, "16384"}};
  const auto amd = describe_node(node, "amd.com/gpu");
  EXPECT_EQ(amd.model, "AMD_Instinct_MI300X_OAM");
  EXPECT_EQ(amd.memory, 192 * kGiB) << "AMD's G is a GiB";
  EXPECT_EQ(describe(node).model, "N") << "a node may have GPUs of both";
  EXPECT_EQ(describe(node).memory, 16 * kGiB);
  node.metadata.labels[api::kGpuModelLabel] = "O";
  node.metadata.labels[api::kGpuMemoryLabel] = "24Gi";
  EXPECT_EQ(describe_node(node, "amd.com/gpu").model, "O");
  EXPECT_EQ(describe_node(node, "amd.com/gpu").memory, 24 * kGiB);
}

TEST(DescribeNode, ThePartOfADividedAmdCardHasUnknownMemory) {
  auto node = make_node("a");
  node.metadata.labels = {{"amd.com/gpu.vram", "192G"}, {"amd.com/compute-memory-partition", "cpx_nps4"}};
  EXPECT_EQ(describe_node(node, "amd.com/cpx_nps4").memory, 0);
  node.metadata.labels["amd.com/compute-memory-partition"] = "spx_nps1";
  EXPECT_EQ(describe_node(node, "amd.com/gpu").memory, 192 * kGiB);
  for (const auto* wrong : {"", "G", "many", "-1G", "192", "192Gi"}) {
    node.metadata.labels["amd.com/gpu.vram"] = wrong;
    EXPECT_EQ(describe_node(node, "amd.com/gpu").memory, 0) << wrong;
  }
  node.metadata.labels["amd.com/gpu.vram"] = "9223372036854775807G";
  EXPECT_GT(describe_node(node, "amd.com/gpu").memory, 1024 * kGiB);
}

TEST(DescribeNode, ReadsTheLabelsOfIntelForItsResources) {
  auto node = make_node("a");
  node.metadata.labels = {{"gpu.intel.com/product", "Max_1550"},
                          {"gpu.intel.com/memory.max", std::to_string(4 * 128 * kGiB)},
                          {"gpu.intel.com/millicores", "4000"}};
  for (const auto* resource : {"gpu.intel.com/i915", "gpu.intel.com/xe"}) {
    EXPECT_EQ(describe_node(node, resource).model, "Max_1550");
    EXPECT_EQ(describe_node(node, resource).memory, 128 * kGiB) << "the label is the sum of all GPUs";
  }
  node.metadata.labels.erase("gpu.intel.com/millicores");
  EXPECT_EQ(describe_node(node, "gpu.intel.com/xe").memory, 0) << "of an unknown number of GPUs";
}

TEST(DescribeNode, AnAbsurdAmountOfMemoryIsMuchAndNotNegative) {
  auto node = make_node("a");
  node.metadata.labels = {{api::kNvidiaMemoryLabel, "9223372036854775807"}};
  EXPECT_GT(describe(node).memory, 1024 * 1024 * kGiB);
  node.metadata.labels = {{api::kNvidiaMemoryLabel, "-9223372036854775807"}};
  EXPECT_EQ(describe(node).memory, 0);
}

TEST(DescribeNode, IsUsableOnlyWhenReadyAndNotCordonedOrDrained) {
  auto node = make_node("a");
  EXPECT_TRUE(describe(node).usable());
  node.spec.unschedulable = true;
  EXPECT_FALSE(describe(node).usable());
  node = make_node("a");
  const auto before = describe(node);
  node.metadata.annotations[api::kDrain] = "";
  EXPECT_FALSE(describe(node).usable());
  EXPECT_FALSE(describe(node) == before);
  node = make_node("a");
  node.status.conditions.back().status = "Unknown";
  EXPECT_FALSE(describe(node).usable());
  node = make_node("a");
  node.metadata.deletion_timestamp = test::at(0);
  EXPECT_FALSE(describe(node).usable());
}

TEST(DescribeNode, TellsOurTaintFromOthers) {
  auto node = make_node("a");
  node.spec.taints = {{"team", "x", "NoSchedule"},
                      {"soft", "x", "PreferNoSchedule"},
                      {"node.kubernetes.io/unschedulable", "", "NoSchedule"},
                      {api::kLease, "uid.1", "NoSchedule"}};
  EXPECT_THAT(describe(node).foreign_taints, testing::ElementsAre(api::Taint{"team", "x", "NoSchedule"}));
  EXPECT_TRUE(describe(node).leased);
  EXPECT_EQ(lease_taint(node), "uid.1");
}

TEST(CarriesLease, NeedsTaintLabelAndAnnotation) {
  auto node = make_node("a");
  node.spec.taints = {{api::kLease, "uid.1", "NoSchedule"}};
  node.metadata.labels[api::kNodeLeaseLabel] = "uid.1";
  EXPECT_FALSE(carries_lease(node, "uid.1"));
  node.metadata.annotations[api::kLease] = "ns/job";
  EXPECT_TRUE(carries_lease(node, "uid.1"));
  EXPECT_FALSE(carries_lease(node, "uid.2"));
  node.metadata.labels[api::kNodeLeaseLabel] = "uid.2";
  EXPECT_FALSE(carries_lease(node, "uid.1"));
}

TEST(GpuMismatch, NamesTheRule) {
  auto node = test::make_pool_node("a", 1, "A");
  node.memory = 16 * kGiB;
  api::PoolGpus wanted;
  EXPECT_EQ(gpu_mismatch(node, wanted), "");
  wanted.models = {"B"};
  EXPECT_NE(gpu_mismatch(node, wanted), "");
  wanted.models = {"A"};
  wanted.min_memory = "16Gi";
  EXPECT_EQ(gpu_mismatch(node, wanted), "");
  wanted.min_memory = "17Gi";
  EXPECT_NE(gpu_mismatch(node, wanted), "");
  node.gpus = 0;
  EXPECT_EQ(gpu_mismatch(node, {}), "has no allocatable nvidia.com/gpu");
}

}  // namespace
}  // namespace gpupool::planning
