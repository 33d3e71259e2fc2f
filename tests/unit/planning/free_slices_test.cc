// SPDX-License-Identifier: Apache-2.0
#include "planning/slices/free_slices.h"

#include <gtest/gtest.h>

#include "tests/unit/planning/builders.h"

namespace gpupool::planning {
namespace {

// A node whose GPUs have these numbers of free slices, out of ten.
SharedNode make_shared_node(const std::vector<std::int64_t>& free) {
  SharedNode node;
  for (const auto slices : free) {
    SharedGpu gpu;
    gpu.size = {10, 1600, 10};
    gpu.healthy_slices = 10;
    gpu.free = slices;
    node.gpus.push_back(gpu);
    node.advertised += 10;
    node.held += 10 - slices;
  }
  return node;
}

void claim(SharedNode& node, std::int64_t slices, std::int64_t gpus = 1) {
  node.claims.push_back({slices, gpus});
  node.held += slices;
}

TEST(RoomFor, CountsPlacesOnEachGpu) {
  EXPECT_EQ(room_for(make_shared_node({10, 10}), {1, 1}), 20);
  EXPECT_EQ(room_for(make_shared_node({10, 10}), {3, 1}), 6) << "not 20 / 3 + a bit of both";
  EXPECT_EQ(room_for(make_shared_node({2, 2}), {3, 1}), 0) << "four are free, and no three on one GPU";
  EXPECT_EQ(room_for(make_shared_node({10, 9, 10}), {10, 1}), 2);
}

TEST(RoomFor, WholeGpusMustBeQuiteFree) {
  EXPECT_EQ(room_for(make_shared_node({10, 10, 9, 10, 10}), {20, 2}), 2);
  EXPECT_EQ(room_for(make_shared_node({10, 9}), {20, 2}), 0);
}

TEST(RoomFor, LikeClaimsFillExactly) {
  auto node = make_shared_node({10});
  for (int i = 0; i < 9; ++i) claim(node, 1);
  EXPECT_EQ(room_for(node, {1, 1}), 1);
  claim(node, 1);
  EXPECT_EQ(room_for(node, {1, 1}), 0);
}

TEST(RoomFor, AClaimMayBeOnAnyGpu) {
  auto node = make_shared_node({5, 5});
  claim(node, 1);
  EXPECT_EQ(room_for(node, {5, 1}), 1) << "it spoils one of the two, whichever";
  claim(node, 1);
  EXPECT_EQ(room_for(node, {5, 1}), 0) << "each may spoil one";
}

TEST(RoomFor, ANewWorkerMustLeaveRoomForTheClaimsBeforeIt) {
  auto node = make_shared_node({10, 10});
  claim(node, 10);
  EXPECT_EQ(room_for(node, {1, 1}), 1) << "a second one might take a bit of each GPU";
  claim(node, 10);
  EXPECT_EQ(room_for(node, {1, 1}), 0);
}

TEST(RoomFor, NeverMoreThanTheKubeletOffers) {
  auto node = make_shared_node({10, 10});
  node.advertised = 12;
  EXPECT_EQ(room_for(node, {4, 1}), 3);
  node.advertised = 0;
  EXPECT_EQ(room_for(node, {4, 1}), 0);
}

SliceNeed memory(std::int64_t mebibytes) {
  SliceNeed need;
  need.memory = mebibytes * 1024 * 1024;
  return need;
}

TEST(ClaimOn, IsWhatOneWorkerTakes) {
  const auto node = make_shared_node({10, 10});
  EXPECT_EQ(claim_on(node, memory(4000))->slices, 3);
  EXPECT_EQ(claim_on(node, memory(16000))->slices, 10);
  EXPECT_FALSE(claim_on(node, memory(16001)).has_value());
  SliceNeed whole;
  whole.whole_gpus = 2;
  EXPECT_EQ(claim_on(node, whole)->slices, 20);
  EXPECT_EQ(claim_on(node, whole)->gpus, 2);
  whole.whole_gpus = 3;
  EXPECT_FALSE(claim_on(node, whole).has_value());
}

// The kubelet, not gpupool, chooses the GPU of a node.
TEST(ClaimOn, AnyGpuThatCouldHoldItMustBeEnough) {
  auto node = make_shared_node({10, 10});
  node.gpus[1].size = {10, 8000, 10};
  EXPECT_EQ(claim_on(node, memory(8000))->slices, 5) << "enough on both";
  EXPECT_FALSE(claim_on(node, memory(24000)).has_value())
      << "three of the large ones could be three small ones";
  node.gpus[1].size = {4, 4000, 25};
  EXPECT_EQ(claim_on(node, memory(15000))->slices, 10) << "so many only the first GPU has";
  SliceNeed whole;
  whole.whole_gpus = 1;
  EXPECT_FALSE(claim_on(node, whole).has_value()) << "ten slices or four?";
}

TEST(Emptied, HasNobodyOnIt) {
  auto node = make_shared_node({0, 3});
  claim(node, 3);
  node.gpus[1].healthy = false;
  node.gpus[1].healthy_slices = 0;
  EXPECT_EQ(room_for(emptied(node, false), {5, 1}), 2);
  EXPECT_EQ(room_for(emptied(node, true), {5, 1}), 4);
}

}  // namespace
}  // namespace gpupool::planning
