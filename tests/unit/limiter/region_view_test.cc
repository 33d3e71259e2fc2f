// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "tests/unit/limiter/region_world.h"

namespace gpupool::limiter::testing {
namespace {

using RegionViews = RegionTest;

TEST_F(RegionViews, OfANewRegion) {
  const auto view = seen();
  EXPECT_EQ(view.state, 0U);
  ASSERT_EQ(view.device_count, 2U);
  EXPECT_STREQ(view.devices[0].uuid.data(), "GPU-a");
  EXPECT_EQ(view.devices[0].limit, 1000 * kMib);
  EXPECT_EQ(view.devices[1].limit, 0U);
  EXPECT_EQ(view.slot_count, 0U);
}

TEST_F(RegionViews, OfTheHeadAlone) {
  const auto bytes = content();
  EXPECT_TRUE(view::read(std::span(bytes).first(kRegionHead)).has_value());
  EXPECT_FALSE(view::read(std::span(bytes).first(kRegionHead - 1)).has_value());
  EXPECT_FALSE(view::read({}).has_value());
}

TEST_F(RegionViews, NothingWrapsAndPartsAreNoMoreThanTheWhole) {
  overwrite(offsetof(Region, used_slots), std::uint64_t{0b111});
  overwrite(offsetof(Region, slots[0].devices[0].total), ~std::uint64_t{0});
  overwrite(offsetof(Region, slots[1].devices[0].total), std::uint64_t{100});
  overwrite(offsetof(Region, slots[1].devices[0].bytes), ~std::uint64_t{0});
  overwrite(offsetof(Region, slots[2].devices[1].total), std::uint64_t{100});
  overwrite(offsetof(Region, slots[2].devices[1].bytes), std::uint64_t{60});
  const auto view = seen();
  EXPECT_EQ(view.devices[0].used, ~std::uint64_t{0});
  EXPECT_EQ(view.devices[0].pending, ~std::uint64_t{0});
  EXPECT_EQ(view.devices[0].classes[0], 100U);
  EXPECT_EQ(view.devices[1].classes[0], 60U);
  EXPECT_EQ(view.devices[1].pending, 40U);
  EXPECT_EQ(view.slot_count, 3U);
}

TEST_F(RegionViews, OfOneSlot) {
  overwrite(offsetof(Region, used_slots), std::uint64_t{0b10});
  overwrite(offsetof(Region, slots[1].pid), std::int32_t{42});
  overwrite(offsetof(Region, slots[1].devices[1].total), std::uint64_t{9});
  const auto bytes = content();
  ASSERT_TRUE(view::read_slot(bytes, 1).has_value());
  EXPECT_EQ(view::read_slot(bytes, 1)->pid, 42);
  EXPECT_EQ(view::read_slot(bytes, 1)->used[1], 9U);
  EXPECT_FALSE(view::read_slot(bytes, 0).has_value());
  EXPECT_FALSE(view::read_slot(bytes, kMaxSlots).has_value());
  EXPECT_FALSE(view::read_slot(std::span(bytes).first(kRegionHead), 1).has_value());
}

TEST_F(RegionViews, OfRandomBytesIsPrintable) {
  std::mt19937_64 random(1);
  auto bytes = content();
  for (std::size_t i = 16; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(random());
  const auto view = view::read(bytes);
  ASSERT_TRUE(view.has_value());
  EXPECT_LE(view->device_count, kMaxDevices);
  for (const auto& device : view->devices) {
    for (const char c : std::string(device.uuid.data())) EXPECT_TRUE(c > ' ' && c < 127);
  }
}

}  // namespace
}  // namespace gpupool::limiter::testing
