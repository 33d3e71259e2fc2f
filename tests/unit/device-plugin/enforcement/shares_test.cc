// SPDX-License-Identifier: Apache-2.0
#include "enforcement/shares.h"

#include <gtest/gtest.h>

namespace gpupool::enforcement {
namespace {

constexpr std::uint64_t kMiB = 1024 * 1024;

CountedContainer container(const std::string& pod, const std::string& name,
                           const std::vector<std::pair<std::string, std::int64_t>>& devices,
                           const std::vector<std::uint64_t>& used_mib) {
  CountedContainer one;
  one.container = {"lab", pod, "uid-" + pod, name, "region-" + pod + name, {}};
  for (const auto& [gpu, mib] : devices) one.container.devices.push_back({gpu, mib, {}});
  one.use.emplace();
  for (const std::uint64_t mib : used_mib) {
    RegionDeviceUse use;
    use.bytes[0] = mib * kMiB;
    use.pending_bytes = kMiB;
    one.use->devices.push_back(use);
  }
  return one;
}

TEST(Shares, ContainersOfAPodAreOneShareOfEachGpu) {
  auto first = container("a", "x", {{"GPU-0", 1000}, {"GPU-1", 500}}, {10, 20});
  auto second = container("a", "y", {{"GPU-0", 300}}, {30});
  second.container.devices[0].enforcement.tolerance_mib = 100;
  second.container.devices[0].enforcement.on_excess = settings::OnExcess::kEnd;
  const auto shares = shares_of({first, second, container("b", "x", {{"GPU-0", 7}}, {1})});
  ASSERT_EQ(shares.size(), 3U);
  EXPECT_EQ(shares[0].gpu + shares[0].pod + shares[0].pod_uid, "GPU-0auid-a");
  EXPECT_EQ(shares[0].limit_bytes, 1300 * kMiB);
  EXPECT_EQ(shares[0].counted_bytes, 42 * kMiB);
  EXPECT_EQ(shares[0].tolerance_bytes, 100 * kMiB);
  EXPECT_TRUE(shares[0].end);
  EXPECT_EQ(shares[1].gpu + shares[1].pod, "GPU-0b");
  EXPECT_EQ(shares[2].gpu + shares[2].pod, "GPU-1a");
  EXPECT_FALSE(shares[2].end);
}

TEST(Shares, ARegionThatCannotBeReadHidesTheCount) {
  auto bad = container("a", "y", {{"GPU-0", 300}}, {30});
  bad.use.reset();
  const auto shares = shares_of({container("a", "x", {{"GPU-0", 1000}}, {10}), bad});
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].limit_bytes, 1300 * kMiB);
  EXPECT_FALSE(shares[0].counted_bytes.has_value());
}

TEST(Shares, ADeviceWithoutALimitHasNoShare) {
  EXPECT_TRUE(shares_of({container("a", "x", {{"GPU-0", 0}}, {10})}).empty());
}

TEST(Holders, HaveWhatTheDriverHasGiven) {
  auto one = container("a", "x", {{"GPU-0", 1000}, {"GPU-1", 500}}, {10, 20});
  one.use->devices[1].waiting_bytes = 5;
  one.use->devices[1].waiting_since = 6;
  one.use->devices[1].wait_ticket = 7;
  one.use->devices[1].refused_ticket = 3;
  auto bad = one;
  bad.use.reset();
  const auto holders = holders_of({one, bad});
  ASSERT_EQ(holders.size(), 1U);
  EXPECT_EQ(holders[0].region, "region-ax");
  EXPECT_EQ(holders[0].devices,
            (std::vector<HeldDevice>{{"GPU-0", 10 * kMiB, 0, 0, 0, 0}, {"GPU-1", 20 * kMiB, 5, 6, 7, 3}}));
}

}  // namespace
}  // namespace gpupool::enforcement
