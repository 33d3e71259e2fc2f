// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/device-plugin/allocation/resources.h"

namespace gpupool::allocation {
namespace {

using settings::Policy;
using test::brief;
using test::slice;
using test::sliced;
using test::uuid;

// The first `used` slices of each GPU are taken; every other is available.
std::vector<std::string> available(const slices::Resource& resource, const std::vector<std::int64_t>& used) {
  std::vector<std::string> ids;
  for (const slices::Slice& one : resource.slices) {
    const auto gpu =
        std::find_if(resource.gpus.begin(), resource.gpus.end(),
                     [&](const slices::SlicedGpu& candidate) { return candidate.uuid == one.gpu; });
    if (one.ordinal >= used.at(static_cast<std::size_t>(gpu->index))) ids.push_back(one.id);
  }
  std::reverse(ids.begin(), ids.end());
  return ids;
}

std::string choice(const slices::Resource& resource, const std::vector<std::int64_t>& used, std::size_t size,
                   const std::vector<std::string>& must = {}) {
  return brief(prefer(resource, available(resource, used), must, size, {}));
}

TEST(PreferPack, TheFullestGpuThatHoldsAll) {
  const slices::Resource resource = sliced(4, 10);
  EXPECT_EQ(choice(resource, {0, 0, 0, 0}, 1), "0::0");
  EXPECT_EQ(choice(resource, {0, 3, 7, 10}, 1), "2::7");
  EXPECT_EQ(choice(resource, {0, 3, 7, 10}, 3), "2::7 2::8 2::9");
  EXPECT_EQ(choice(resource, {0, 3, 7, 10}, 4), "1::3 1::4 1::5 1::6");
  EXPECT_EQ(choice(resource, {3, 3, 10, 10}, 2), "0::3 0::4");
}

TEST(PreferPack, TheFewestGpusIfNoneHoldsAll) {
  const slices::Resource resource = sliced(4, 4);
  EXPECT_EQ(choice(resource, {2, 0, 3, 1}, 5), "1::0 1::1 1::2 1::3 2::3");
  EXPECT_EQ(choice(resource, {2, 0, 3, 1}, 6), "1::0 1::1 1::2 1::3 0::2 0::3");
  EXPECT_EQ(choice(resource, {3, 3, 3, 3}, 2), "0::3 1::3");
}

TEST(PreferPack, GpusOfWhatMustBeIncludedFirst) {
  const slices::Resource resource = sliced(3, 4);
  EXPECT_EQ(choice(resource, {0, 2, 0}, 3, {slice(2, 3)}), "2::3 2::0 2::1");
  EXPECT_EQ(choice(resource, {0, 0, 2}, 4, {slice(2, 3)}), "2::3 2::2 0::0 0::1");
  EXPECT_EQ(choice(resource, {0, 0, 2}, 2, {slice(2, 3), slice(0, 1)}), "0::1 2::3");
  EXPECT_EQ(choice(resource, {0, 0, 2}, 1, {slice(2, 3), slice(0, 1)}), "0::1 2::3");
}

TEST(PreferSpread, TheEmptiestGpuThatHoldsAll) {
  const slices::Resource resource = sliced(4, 10, Policy::kSpread);
  EXPECT_EQ(choice(resource, {3, 1, 0, 10}, 2), "2::0 2::1");
  EXPECT_EQ(choice(resource, {3, 1, 1, 10}, 2), "1::1 1::2");
  EXPECT_EQ(choice(resource, {5, 5, 5, 5}, 6), "0::5 0::6 0::7 0::8 0::9 1::5");
}

TEST(PreferSpread, TheEmptiestIsTheOneWithTheLargestShareFree) {
  settings::Settings settings = slices::test::split(10);
  settings.policy = Policy::kSpread;
  settings.overrides = {test::split_gpu(1, 2)};
  const slices::Resource resource = test::resource_of(test::machine(2), settings);
  EXPECT_EQ(choice(resource, {1, 0}, 1), "1::0");
  EXPECT_EQ(choice(resource, {1, 1}, 1), "0::1");
  EXPECT_EQ(choice(resource, {0, 0}, 1), "0::0");
}

TEST(PreferDistinct, OneOfEachGpuEmptiestFirst) {
  const slices::Resource resource = sliced(4, 4, Policy::kDistinct);
  EXPECT_EQ(choice(resource, {2, 0, 3, 1}, 1), "1::0");
  EXPECT_EQ(choice(resource, {2, 0, 3, 1}, 3), "1::0 3::1 0::2");
  EXPECT_EQ(choice(resource, {2, 0, 3, 1}, 3, {slice(1, 3)}), "1::3 3::1 0::2");
  EXPECT_EQ(choice(resource, {2, 0, 4, 4}, 4), "1::0 0::2 1::1 0::3");
}

TEST(PreferWhole, AllOfAKindWhateverThePolicy) {
  inventory::Inventory inventory = test::machine(4);
  inventory.gpus[1].links = {{uuid(3), inventory::Distance::kNvlink, 2}};
  inventory.gpus[3].links = {{uuid(1), inventory::Distance::kNvlink, 2}};
  for (const Policy policy : {Policy::kPack, Policy::kSpread, Policy::kDistinct}) {
    const slices::Resource resource = sliced(4, 1, policy);
    const std::vector<std::string> all = {uuid(3), uuid(2), uuid(1), uuid(0)};
    EXPECT_EQ(brief(prefer(resource, all, {}, 2, inventory.gpus)), "1 3");
    EXPECT_EQ(brief(prefer(resource, all, {}, 1, inventory.gpus)), "0");
    EXPECT_EQ(brief(prefer(resource, all, {uuid(2)}, 2, inventory.gpus)), "0 2");
    EXPECT_EQ(brief(prefer(resource, {uuid(2), uuid(1)}, {}, 3, inventory.gpus)), "1 2");
  }
}

TEST(Prefer, NumaNodesDecideBetweenEquals) {
  inventory::Inventory inventory = test::machine(4);
  for (auto& gpu : inventory.gpus) gpu.numa_node = gpu.index % 2;
  settings::Settings settings = slices::test::split(2);
  EXPECT_EQ(choice(test::resource_of(inventory, settings), {0, 0, 0, 0}, 4), "0::0 0::1 2::0 2::1");
  settings.policy = Policy::kDistinct;
  EXPECT_EQ(choice(test::resource_of(inventory, settings), {1, 0, 1, 1}, 2), "1::0 3::1");
}

TEST(Prefer, UnknownAndUnhealthyOnesAreLeftOut) {
  slices::Resource resource = sliced(2, 2);
  resource.slices[0].healthy = false;
  const std::vector<std::string> ids = {slice(0, 0), slice(0, 1), slice(7, 0), "", slice(0, 1)};
  EXPECT_EQ(brief(prefer(resource, ids, {slice(7, 0)}, 2, {})), "0::1");
  EXPECT_EQ(prefer(resource, {}, {}, 2, {}).size(), 0U);
  EXPECT_EQ(prefer(resource, ids, {}, 0, {}).size(), 0U);
  EXPECT_EQ(prefer({}, ids, ids, 3, {}).size(), 0U);
}

}  // namespace
}  // namespace gpupool::allocation
