// SPDX-License-Identifier: Apache-2.0
// One process's ledger. What several do: region_processes_test.cc. Each test forks, because record locks are
// a process's.
#include "tests/unit/limiter/region_world.h"

namespace gpupool::limiter::testing {
namespace {

using RegionLedger = RegionTest;
using enum Reservation;

constinit Ledger starts_without_constructor;

TEST_F(RegionLedger, GrantsUpToTheLimitAndNotOneByteMore) {
  Ledger ledger;
  ASSERT_TRUE(ledger.attach(path_.c_str(), two_devices()));
  EXPECT_EQ(ledger.state(), 0U);
  EXPECT_EQ(ledger.reserve(0, 1000 * kMib + 1), kRefused);
  EXPECT_EQ(ledger.reserve(0, 600 * kMib), kGranted);
  EXPECT_EQ(ledger.reserve(0, 400 * kMib + 1), kRefused);
  EXPECT_EQ(ledger.reserve(0, ~std::uint64_t{0}), kRefused);
  EXPECT_EQ(ledger.reserve(0, 400 * kMib), kGranted);
  EXPECT_EQ(ledger.reserve(0, 0), kGranted);
  EXPECT_EQ(ledger.reserve(0, 1), kRefused);
  EXPECT_EQ(ledger.used(0), 1000 * kMib);
  EXPECT_EQ(seen().devices[0].refusals, 4U);
  EXPECT_EQ(seen().devices[0].peak, 1000 * kMib);
  EXPECT_EQ(seen().devices[0].pending, 1000 * kMib);
}

TEST_F(RegionLedger, CountsByClass) {
  Ledger ledger;
  ASSERT_TRUE(ledger.attach(path_.c_str(), two_devices()));
  ASSERT_EQ(ledger.reserve(0, 100 * kMib), kGranted);
  ledger.commit(0, Class::kArray, 100 * kMib, 90 * kMib);
  EXPECT_EQ(ledger.used(0), 90 * kMib);
  ASSERT_EQ(ledger.reserve(0, 10 * kMib), kGranted);
  ledger.commit(0, Class::kMemory, 10 * kMib, 20 * kMib);
  ASSERT_EQ(ledger.reserve(0, 5 * kMib), kGranted);
  ledger.cancel(0, 5 * kMib);
  EXPECT_EQ(ledger.own(0), 110 * kMib);
  EXPECT_EQ(ledger.own(0, Class::kArray), 90 * kMib);
  EXPECT_EQ(seen().devices[0].classes[static_cast<unsigned>(Class::kMemory)], 20 * kMib);
  EXPECT_EQ(seen().devices[0].pending, 0U);
  ledger.release(0, Class::kArray, 90 * kMib);
  ledger.release(0, Class::kMemory, 20 * kMib);
  EXPECT_EQ(ledger.used(0), 0U);
}

TEST_F(RegionLedger, GivesBackNoMoreThanThereIs) {
  Ledger ledger;
  ASSERT_TRUE(ledger.attach(path_.c_str(), two_devices()));
  ASSERT_EQ(ledger.reserve(0, kMib), kGranted);
  ledger.commit(0, Class::kMemory, kMib, kMib);
  ledger.release(0, Class::kArray, kMib);
  EXPECT_EQ(ledger.used(0), kMib);
  ledger.release(0, Class::kMemory, 5 * kMib);
  EXPECT_EQ(ledger.used(0), 0U);
  ledger.cancel(0, kMib);
  EXPECT_EQ(ledger.used(0), 0U);
}

TEST_F(RegionLedger, SettlesASumInOneStep) {
  Ledger ledger;
  ASSERT_TRUE(ledger.attach(path_.c_str(), two_devices()));
  ASSERT_EQ(ledger.reserve(0, 64 * kMib), kGranted);
  EXPECT_TRUE(ledger.settle(0, Class::kPool, 32 * kMib, 64 * kMib));
  EXPECT_EQ(ledger.used(0), 32 * kMib);
  EXPECT_TRUE(ledger.settle(0, Class::kPool, 1000 * kMib));
  EXPECT_FALSE(ledger.settle(0, Class::kPool, 1001 * kMib));
  EXPECT_EQ(ledger.used(0), 1001 * kMib);
  EXPECT_EQ(ledger.reserve(0, 0), kRefused);
  EXPECT_TRUE(ledger.settle(0, Class::kPool, 0));
  EXPECT_EQ(ledger.used(0), 0U);
}

TEST_F(RegionLedger, CountsADeviceWithoutLimit) {
  Ledger ledger;
  ASSERT_TRUE(ledger.attach(path_.c_str(), two_devices()));
  EXPECT_EQ(ledger.reserve(1, 5000 * kMib), kUnlimited);
  ledger.commit(1, Class::kMemory, 5000 * kMib, 5000 * kMib);
  EXPECT_EQ(seen().devices[1].used, 5000 * kMib);
  EXPECT_EQ(ledger.limit(0), 1000 * kMib);
  EXPECT_EQ(ledger.limit(1), Ledger::kNoLimit);
}

TEST_F(RegionLedger, RefusesADeviceThatTheFileDoesNotName) {
  Ledger ledger;
  ASSERT_TRUE(ledger.attach(path_.c_str(), two_devices()));
  for (const unsigned device : {2U, kMaxDevices, ~0U}) {
    EXPECT_EQ(ledger.reserve(device, 1), kRefused);
    ledger.commit(device, Class::kMemory, 1, 1);
    ledger.cancel(device, 1);
    ledger.release(device, Class::kMemory, 1);
    ledger.settle(device, Class::kMemory, 1);
    EXPECT_EQ(ledger.used(device), 0U);
    EXPECT_EQ(ledger.limit(device), 0U);
  }
  EXPECT_EQ(seen().state, kUnknownDevice);
}

TEST_F(RegionLedger, RefusesBeforeItIsAttachedAndWithoutARegion) {
  EXPECT_EQ(starts_without_constructor.reserve(0, 1), kRefused);
  Ledger ledger;
  EXPECT_FALSE(ledger.attach((folder_ + "/none").c_str(), two_devices()));
  EXPECT_EQ(ledger.state(), kNoRegion);
  EXPECT_EQ(ledger.reserve(0, 1), kRefused);
  EXPECT_EQ(ledger.reserve(1, 1), kUnlimited);
  EXPECT_EQ(ledger.reserve(2, 1), kRefused);
}

TEST_F(RegionLedger, RefusesEverythingWithBadLimits) {
  Limits bad{};
  bad.source = Limits::Source::kBad;
  Ledger ledger;
  EXPECT_FALSE(ledger.attach(path_.c_str(), bad));
  EXPECT_EQ(ledger.reserve(0, 1), kRefused);
  EXPECT_EQ(ledger.reserve(7, 1), kRefused);
  EXPECT_EQ(ledger.limit(0), 0U);
  EXPECT_EQ(seen().state, kBadLimits);
}

TEST_F(RegionLedger, LimitsNothingWithoutLimitsAndSaysSo) {
  Ledger ledger;
  EXPECT_FALSE(ledger.attach((folder_ + "/none").c_str(), Limits{}));
  EXPECT_EQ(ledger.state(), kNoLimits);
  EXPECT_EQ(ledger.reserve(0, ~std::uint64_t{0}), kUnlimited);
  EXPECT_EQ(ledger.limit(0), Ledger::kNoLimit);
}

TEST_F(RegionLedger, LimitsOfTheEnvironmentNeedNoRegion) {
  const std::array<const char*, 2> environment = {"CUDA_DEVICE_MEMORY_LIMIT_0=10m", nullptr};
  Ledger ledger;
  ASSERT_TRUE(ledger.attach((folder_ + "/none").c_str(), parse_environment(environment.data())));
  EXPECT_EQ(ledger.reserve(0, 10 * kMib), kGranted);
  EXPECT_EQ(ledger.reserve(0, 1), kRefused);
  EXPECT_EQ(ledger.reserve(1, 1), kUnlimited);
  ledger.cancel(0, 10 * kMib);
  EXPECT_EQ(ledger.used(0), 0U);
}

TEST_F(RegionLedger, RefusesWhenTheHeaderIsOverwritten) {
  Ledger ledger;
  ASSERT_TRUE(ledger.attach(path_.c_str(), two_devices()));
  ASSERT_EQ(ledger.reserve(0, kMib), kGranted);
  overwrite(0, std::uint64_t{7});
  EXPECT_EQ(ledger.reserve(0, kMib), kRefused);
  EXPECT_EQ(ledger.reserve(1, kMib), kUnlimited);
  overwrite(0, kRegionMagic);
  EXPECT_EQ(ledger.reserve(0, kMib), kRefused) << "for good";
  EXPECT_EQ(seen().state, kDamaged);
}

TEST_F(RegionLedger, RefusesWhenItsSlotIsOverwritten) {
  Ledger ledger;
  ASSERT_TRUE(ledger.attach(path_.c_str(), two_devices()));
  ASSERT_EQ(ledger.reserve(0, 900 * kMib), kGranted);
  overwrite(offsetof(Region, slots[0].devices[0].total), std::uint64_t{0});
  EXPECT_EQ(ledger.reserve(0, 900 * kMib), kRefused);
  EXPECT_EQ(seen().state, kDamaged);
}

TEST_F(RegionLedger, RefusesWhenItsSlotIsUnmarked) {
  Ledger ledger;
  ASSERT_TRUE(ledger.attach(path_.c_str(), two_devices()));
  overwrite(offsetof(Region, used_slots), std::uint64_t{0});
  EXPECT_EQ(ledger.reserve(0, 1), kRefused);
  EXPECT_EQ(seen().state, kDamaged);
}

TEST_F(RegionLedger, CountsUnknownNamesAndKeepsTheFirst) {
  Ledger ledger;
  ASSERT_TRUE(ledger.attach(path_.c_str(), two_devices()));
  ledger.unknown_name("cuNew");
  ledger.unknown_name("cuNew");
  ledger.unknown_name("cu\x1b[31mBad\n");
  for (int i = 0; i < 20; ++i)
    ledger.unknown_name(("cuMore" + std::string(60, 'x') + std::to_string(i)).c_str());
  const auto view = seen();
  EXPECT_EQ(view.unknown_calls, 23U);
  EXPECT_STREQ(view.unknown_names[0].data(), "cuNew");
  EXPECT_STREQ(view.unknown_names[1].data(), "cu??31mBad?");
  EXPECT_EQ(std::string(view.unknown_names[2].data()), "cuMore" + std::string(41, 'x'));
  EXPECT_STREQ(view.unknown_names[3].data(), "");
  EXPECT_EQ(view.state, kUnknownNames);
}

}  // namespace
}  // namespace gpupool::limiter::testing
