// SPDX-License-Identifier: Apache-2.0
#include "planning/slices/shared_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "api/v1alpha1/names.h"
#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class SharedMember : public testing::Test {
 protected:
  SharedNode describe() const { return describe_shared_node(node_, &report_, pool_, occupants_); }
  api::GpuNodeGpu& gpu(std::size_t i) { return report_.status.gpus.at(i); }

  api::GpuPool pool_ = test::make_sharing_pool();
  api::Node node_ = test::make_shared_member("a", 20);
  api::GpuNode report_ = test::make_report("a", 2);
  Occupants occupants_;
};

TEST_F(SharedMember, AnEmptyOneHasAllItsSlices) {
  const auto node = describe();
  EXPECT_EQ(node.unusable, "");
  EXPECT_TRUE(node.marked);
  EXPECT_THAT(node.node.foreign_taints, IsEmpty());
  EXPECT_THAT(node.notes, IsEmpty());
  ASSERT_EQ(node.gpus.size(), 2U);
  EXPECT_EQ(node.gpus[0].free, 10);
  EXPECT_EQ(node.gpus[0].size, (SliceSize{10, 1600, 10}));
  EXPECT_EQ(node.held, 0);
}

TEST_F(SharedMember, PodsInTheReportHoldTheSlicesOfTheirGpu) {
  test::show_pod(report_, 1, "mine", 3);
  test::show_pod(report_, 1, "strange", 2);
  occupants_.pods = {{"ns", "mine", 3}};
  const auto node = describe();
  EXPECT_EQ(node.gpus[0].free, 10);
  EXPECT_EQ(node.gpus[1].free, 5) << "a foreign pod counts too";
  EXPECT_THAT(node.claims, IsEmpty());
  EXPECT_EQ(node.held, 5);
}

TEST_F(SharedMember, PodsThatHaveEndedHoldNothing) {
  test::show_pod(report_, 1, "over", 3);
  occupants_.ended = {{"ns", "over"}};
  EXPECT_EQ(describe().gpus[1].free, 10);
  occupants_.ended = {{"other", "over"}};
  EXPECT_EQ(describe().gpus[1].free, 7);
}

TEST_F(SharedMember, WhatTheReportDoesNotShowIsAClaim) {
  occupants_.pods = {{"ns", "young", 3}};
  occupants_.reserved = {4, 20};
  const auto node = describe();
  ASSERT_EQ(node.claims.size(), 3U);
  EXPECT_EQ(node.claims[0].slices, 3);
  EXPECT_EQ(node.claims[0].gpus, 1);
  EXPECT_EQ(node.claims[2].gpus, 2) << "more slices than one GPU has are whole GPUs";
  EXPECT_EQ(node.held, 27);
}

TEST_F(SharedMember, OnItsOnlyGpuNothingIsInDoubt) {
  report_ = test::make_report("a", 1);
  occupants_.reserved = {4, 3};
  EXPECT_THAT(describe().claims, IsEmpty());
  EXPECT_EQ(describe().gpus[0].free, 3);
  EXPECT_EQ(describe().held, 7);
}

TEST_F(SharedMember, AllItsGpusMayBeSick) {
  gpu(0).health = gpu(1).health = "Unhealthy";
  gpu(0).reason = gpu(1).reason = "Lost";
  node_.status.allocatable[test::kSlices] = "0";
  EXPECT_EQ(describe().unusable, "");
  EXPECT_EQ(describe().notes.size(), 2U);
}

TEST_F(SharedMember, SlicesThatAreSickAreNotFree) {
  test::show_pod(report_, 0, "old", 3);
  gpu(0).slices.free = 0;  // the GPU will be cut again: only slices in use are left
  EXPECT_EQ(describe().gpus[0].healthy_slices, 3);
  EXPECT_EQ(describe().gpus[0].free, 0);
  occupants_.ended = {{"ns", "old"}};
  EXPECT_EQ(describe().gpus[0].free, 3) << "until the next report says otherwise";
}

TEST_F(SharedMember, ASickGpuIsLeftOut) {
  gpu(1).health = "Unhealthy";
  gpu(1).reason = "Xid79";
  const auto node = describe();
  EXPECT_EQ(node.unusable, "");
  EXPECT_THAT(node.notes, ElementsAre("GPU 1 is not healthy: Xid79"));
  EXPECT_EQ(node.gpus[1].free, 0);
  EXPECT_EQ(node.node.gpus, 1);
}

TEST_F(SharedMember, AGpuOfAnotherResourceIsLeftOut) {
  gpu(0).resource_name = "nvidia.com/mig-1g.10gb";
  gpu(0).mig = true;
  const auto node = describe();
  EXPECT_EQ(node.unusable, "");
  EXPECT_THAT(node.notes, ElementsAre(HasSubstr("GPU 0 is not offered as gpupool.dev/vgpu")));
  EXPECT_EQ(node.gpus.size(), 1U);
}

TEST_F(SharedMember, WithoutAReportItIsNotUsed) {
  const auto node = describe_shared_node(node_, nullptr, pool_, occupants_);
  EXPECT_THAT(node.unusable, HasSubstr("no GpuNode"));
}

TEST_F(SharedMember, WithoutGpusItSaysWhatThePluginSays) {
  report_.status.gpus.clear();
  report_.status.message = "no NVIDIA driver";
  EXPECT_EQ(describe().unusable, "no NVIDIA driver");
}

TEST_F(SharedMember, WhatTheKubeletDoesNotOfferIsNotUsed) {
  node_.status.allocatable[test::kSlices] = "0";
  EXPECT_THAT(describe().unusable, HasSubstr("no allocatable gpupool.dev/vgpu"));
}

TEST_F(SharedMember, NeedsTheMarksOfItsPool) {
  node_.metadata.labels.erase(api::kMemberLabel);
  EXPECT_FALSE(describe().marked);
  node_.metadata.labels[api::kMemberLabel] = "uid-of-an-earlier-node";
  EXPECT_FALSE(describe().marked);
  node_ = test::make_shared_member("a", 20, "other");
  EXPECT_FALSE(describe().marked);
  EXPECT_EQ(describe().node.foreign_taints.size(), 1U) << "another pool's taint keeps workers away";
}

// A kubelet may use any GPU that it advertises, so one GPU that is cut differently excludes its node.
TEST_F(SharedMember, AGpuThatIsCutOtherwiseSpoilsTheNode) {
  auto& promised = *pool_.spec.sharing;
  promised = {.device_split_count = 10, .device_memory_scaling = 1.0, .device_core_scaling = 1.0};
  EXPECT_EQ(describe().unusable, "");
  promised.device_split_count = 8;
  EXPECT_THAT(describe().unusable, HasSubstr("10 slices, and the pool promises 8"));
  promised.device_split_count = 10;
  promised.device_memory_scaling = 1.5;
  EXPECT_THAT(describe().unusable, HasSubstr("deviceMemoryScaling"));
  gpu(0).slices.memory_mib = gpu(1).slices.memory_mib = 2400;
  EXPECT_EQ(describe().unusable, "");
  promised.device_core_scaling = 2.0;
  EXPECT_THAT(describe().unusable, HasSubstr("deviceCoreScaling"));
  gpu(0).slices.cores = gpu(1).slices.cores = 20;
  EXPECT_EQ(describe().unusable, "");
  gpu(1).slices.cores = 10;
  EXPECT_THAT(describe().unusable, HasSubstr("GPU 1"));
  gpu(1).health = "Unhealthy";
  EXPECT_EQ(describe().unusable, "") << "an unhealthy one is not used by anybody";
}

TEST_F(SharedMember, ModelAndMemoryAreThePoolsToChoose) {
  pool_.spec.gpus.models = {"B"};
  EXPECT_THAT(describe().unusable, HasSubstr("model A is not in spec.gpus.models"));
  pool_.spec.gpus.models = {"A", "B"};
  pool_.spec.gpus.min_memory = "16000Mi";
  EXPECT_EQ(describe().unusable, "");
  pool_.spec.gpus.min_memory = "16Gi";
  EXPECT_THAT(describe().unusable, HasSubstr("memory is below 16Gi"));
}

// The owner of a node can write its report, and any pod can have a label.
TEST_F(SharedMember, AbsurdNumbersDoNotTurnIntoFreeSlices) {
  constexpr auto kHuge = std::numeric_limits<std::int64_t>::max();
  for (const char* name : {"huge", "huge-too"}) gpu(0).pods.push_back({"ns", name, kHuge});
  gpu(1).slices.total = kHuge;
  gpu(1).slices.free = kHuge;
  gpu(1).memory_mib = kHuge;
  occupants_.pods = {{"ns", "foreign", kHuge}};
  occupants_.reserved = {kHuge, kHuge};
  pool_.spec.sharing->device_memory_scaling = 10;
  const auto node = describe();
  EXPECT_GT(node.held, 0);
  for (const auto& one : node.gpus) {
    EXPECT_GE(one.free, 0);
    EXPECT_GE(one.healthy_slices, 0);
  }
}

}  // namespace
}  // namespace gpupool::planning
