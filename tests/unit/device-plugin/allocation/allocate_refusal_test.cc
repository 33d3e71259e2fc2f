// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/device-plugin/allocation/resources.h"

namespace gpupool::allocation {
namespace {

using base::ErrorCode;
using settings::Policy;
using test::slice;
using test::sliced;
using test::uuid;
using testing::HasSubstr;

base::Error refused(const slices::Resource& resource, const std::vector<std::string>& ids) {
  const auto grant = allocate(resource, ids, {}, {});
  EXPECT_FALSE(grant.has_value());
  return grant ? base::Error{ErrorCode::kServer, "granted"} : grant.error();
}

bool is_granted(const slices::Resource& resource, const std::vector<std::string>& ids) {
  return allocate(resource, ids, {}, {}).has_value();
}

TEST(AllocateRefusal, NoIds) {
  const base::Error error = refused(sliced(1, 2), {});
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("no device ID"));
}

TEST(AllocateRefusal, UnknownIds) {
  for (const std::string& id : {slice(0, 2), slice(1, 0), uuid(0), std::string()}) {
    const base::Error error = refused(sliced(1, 2), {slice(0, 0), id});
    EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.message, HasSubstr("does not advertise device '" + id + "' as gpupool.dev/vgpu"));
    EXPECT_THAT(error.message, HasSubstr("start the pod again"));
  }
}

// The message travels in a header of the answer.
TEST(AllocateRefusal, AMessageIsShortWhateverTheIdIs) {
  const base::Error error = refused(sliced(1, 2), {std::string(100'000, 'x')});
  EXPECT_THAT(error.message, HasSubstr("device '" + std::string(63, 'x') + "...' as"));
  EXPECT_LT(error.message.size(), 300U);
}

TEST(AllocateRefusal, DuplicateIds) {
  const base::Error error = refused(sliced(1, 2), {slice(0, 1), slice(0, 0), slice(0, 1)});
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("device '" + slice(0, 1) + "' was asked for twice"));
}

TEST(AllocateRefusal, UnhealthySlices) {
  slices::Resource resource = sliced(2, 2);
  resource.slices[3].healthy = false;
  resource.slices[3].unhealthy_reason = "Xid79: fell off the bus";
  EXPECT_TRUE(is_granted(resource, {slice(1, 0)}));
  const base::Error error = refused(resource, {slice(1, 1)});
  EXPECT_EQ(error.code, ErrorCode::kInvalid);
  EXPECT_THAT(error.message,
              HasSubstr("of GPU 1 is not healthy: Xid79: fell off the bus; start the pod again"));
}

// Its GPU may have failed, and the policy may have changed since it got them.
TEST(HeldDevices, AContainerKeepsWhatNoOtherWouldGet) {
  slices::Resource resource = sliced(2, 2, Policy::kDistinct);
  const std::vector<std::string> ids{slice(0, 0), slice(0, 1)};
  resource.slices[0].healthy = false;
  EXPECT_FALSE(devices_of(resource, ids).has_value());
  const auto held = held_devices(resource, ids);
  ASSERT_TRUE(held.has_value()) << held.error().message;
  ASSERT_EQ(held->size(), 1U);
  EXPECT_EQ(held->at(0).visible, uuid(0));
  EXPECT_EQ(held->at(0).memory_mib, 2 * resource.slices[0].memory_mib);
  EXPECT_FALSE(held_devices(resource, {slice(0, 2)}).has_value());
}

TEST(AllocateRefusal, MoreGpusThanNeededForPackAndSpread) {
  for (const Policy policy : {Policy::kPack, Policy::kSpread}) {
    const slices::Resource resource = sliced(3, 4, policy);
    EXPECT_TRUE(is_granted(resource, {slice(0, 0), slice(0, 3)}));
    const base::Error error = refused(resource, {slice(0, 0), slice(1, 3), slice(0, 2)});
    EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(error.message, HasSubstr("asks for 3 slices of gpupool.dev/vgpu, which must be of one GPU"));
    EXPECT_THAT(error.message, HasSubstr("it would get 2 of GPU 0, 1 of GPU 1. Ask for fewer, or"));
  }
}

TEST(AllocateRefusal, MoreThanAGpuHasMayBeOnTwo) {
  const slices::Resource resource = sliced(3, 2);
  EXPECT_FALSE(is_granted(resource, {slice(0, 0), slice(1, 0)}));
  EXPECT_TRUE(is_granted(resource, {slice(0, 0), slice(0, 1), slice(2, 0)}));
  EXPECT_TRUE(is_granted(resource, {slice(0, 0), slice(0, 1), slice(2, 0), slice(2, 1)}));
  const base::Error error = refused(resource, {slice(0, 0), slice(1, 0), slice(2, 0)});
  EXPECT_THAT(error.message, HasSubstr("which must be of no more than 2 GPUs"));
  EXPECT_TRUE(is_granted(resource, {slice(0, 0), slice(0, 1), slice(1, 0), slice(2, 0), slice(1, 1)}));
}

TEST(AllocateRefusal, TheLargestGpusSayHowManyAreNeeded) {
  settings::Settings settings = slices::test::split(4);
  settings.overrides = {test::split_gpu(0, 2)};
  const slices::Resource resource = test::resource_of(test::machine(3), settings);
  EXPECT_TRUE(is_granted(resource, {slice(1, 0), slice(1, 1), slice(1, 2)}));
  EXPECT_FALSE(is_granted(resource, {slice(0, 0), slice(0, 1), slice(1, 2)}));
  EXPECT_TRUE(is_granted(resource, {slice(0, 0), slice(0, 1), slice(1, 0), slice(1, 1), slice(1, 2)}));
}

TEST(AllocateRefusal, TwoSlicesOfOneGpuForDistinct) {
  const slices::Resource resource = sliced(3, 4, Policy::kDistinct);
  EXPECT_TRUE(is_granted(resource, {slice(0, 0), slice(2, 3), slice(1, 0)}));
  const base::Error error = refused(resource, {slice(0, 0), slice(1, 3), slice(0, 2)});
  EXPECT_EQ(error.code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(error.message, HasSubstr("asks for 3 slices of gpupool.dev/vgpu, each of a GPU of its own"));
  EXPECT_THAT(error.message, HasSubstr("it would get 2 of GPU 0, 1 of GPU 1"));
}

TEST(AllocateRefusal, AnySetOfWholeGpusIsFine) {
  for (const Policy policy : {Policy::kPack, Policy::kSpread, Policy::kDistinct}) {
    EXPECT_TRUE(is_granted(sliced(4, 1, policy), {uuid(3), uuid(0), uuid(1)}));
  }
}

}  // namespace
}  // namespace gpupool::allocation
