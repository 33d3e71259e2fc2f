// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "slices/notes.h"
#include "tests/unit/device-plugin/slices/builders.h"

namespace gpupool::slices {
namespace {

struct Case {
  std::int64_t memory;
  settings::Split split;
  Cut cut;
};

class CutTable : public testing::TestWithParam<Case> {};

TEST_P(CutTable, IsTheFormula) {
  const auto result = cut(GetParam().memory, GetParam().split);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  const Cut& expected = GetParam().cut;
  EXPECT_EQ(result->count, expected.count);
  EXPECT_EQ(result->memory_mib, expected.memory_mib);
  EXPECT_EQ(result->cores, expected.cores);
  EXPECT_EQ(result->memory_left_mib, expected.memory_left_mib);
  EXPECT_EQ(result->cores_left, expected.cores_left);
  EXPECT_EQ(result->overcommits, expected.overcommits);
}

// {M, {K, memory scaling, core scaling}, {K, MiB, %, MiB left, % left, over-committed}}
INSTANTIATE_TEST_SUITE_P(, CutTable,
                         testing::Values(Case{16376, {10, 1000, 1000}, {10, 1637, 10, 6, 0, false}},
                                         Case{16384, {1, 1000, 1000}, {1, 16384, 100, 0, 0, false}},
                                         Case{16384, {3, 1000, 1000}, {3, 5461, 33, 1, 1, false}},
                                         Case{16384, {100, 1000, 1000}, {100, 163, 1, 84, 0, false}},
                                         Case{16384, {7, 1000, 1000}, {7, 2340, 14, 4, 2, false}},
                                         Case{16384, {10, 1500, 2000}, {10, 2457, 20, 6, 0, true}},
                                         Case{16384, {10, 1000, 1500}, {10, 1638, 15, 4, 0, true}},
                                         Case{16384, {1, 500, 1000}, {1, 8192, 100, 0, 0, false}},
                                         Case{16384, {4, 900, 750}, {4, 3686, 18, 1, 3, false}},
                                         Case{10, {10, 1001, 1000}, {10, 1, 10, 0, 0, true}},
                                         Case{1, {1, 1000, 1000}, {1, 1, 100, 0, 0, false}},
                                         Case{
                                             196608, {100, 100000, 100000}, {100, 196608, 100, 0, 0, true}}));

TEST(Cut, ASliceOfNothingIsRefused) {
  const auto memory = cut(99, {.count = 100, .memory_scaling = 1000, .core_scaling = 1000});
  ASSERT_FALSE(memory.has_value());
  EXPECT_EQ(memory.error().code, base::ErrorCode::kInvalidArgument);
  EXPECT_EQ(memory.error().message,
            "deviceSplitCount 100 and deviceMemoryScaling 1 would leave each slice 0 MiB of its 99 MiB");
  const auto cores = cut(16384, {.count = 10, .memory_scaling = 1000, .core_scaling = 90});
  ASSERT_FALSE(cores.has_value());
  EXPECT_EQ(cores.error().message,
            "deviceSplitCount 10 and deviceCoreScaling 0.09 would leave each slice 0 % of its cores");
}

TEST(Cut, DecimalsAreWrittenAsPeopleDo) {
  EXPECT_EQ(decimal(1000), "1");
  EXPECT_EQ(decimal(1500), "1.5");
  EXPECT_EQ(decimal(1), "0.001");
  EXPECT_EQ(decimal(1050), "1.05");
  EXPECT_EQ(decimal(100'000), "100");
}

TEST(SplitOf, ALaterOverrideWinsKeyByKey) {
  settings::Settings settings;
  settings.overrides = {
      {.match = {.node = "gpu-1", .uuid = "", .model = "", .index = {}},
       .count = 4,
       .memory_scaling = 1200,
       .core_scaling = {}},
      {.match = {.node = "", .uuid = "", .model = "NVIDIA GeForce RTX 4070 Ti SUPER", .index = {}},
       .count = {},
       .memory_scaling = {},
       .core_scaling = 1500},
      {.match = {.node = "gpu-1", .uuid = "", .model = "", .index = 1},
       .count = 2,
       .memory_scaling = {},
       .core_scaling = {}},
      {.match = {.node = "gpu-2", .uuid = test::uuid(2), .model = "", .index = {}},
       .count = 9,
       .memory_scaling = {},
       .core_scaling = {}},
      {.match = {.node = "", .uuid = test::uuid(3), .model = "", .index = {}},
       .count = 1,
       .memory_scaling = 1000,
       .core_scaling = 1000}};
  const auto of = [&](std::int64_t index, const std::string& node) {
    return split_of(settings, node, test::gpu(index));
  };
  EXPECT_EQ(of(0, "gpu-1"), (settings::Split{4, 1200, 1500}));
  EXPECT_EQ(of(1, "gpu-1"), (settings::Split{2, 1200, 1500}));
  EXPECT_EQ(of(2, "gpu-1"), (settings::Split{4, 1200, 1500}));
  EXPECT_EQ(of(2, "gpu-2"), (settings::Split{9, 1000, 1500}));
  EXPECT_EQ(of(3, "gpu-1"), (settings::Split{1, 1000, 1000}));
}

TEST(SplitOf, AnotherModelIsNotMeant) {
  settings::Settings settings;
  settings.overrides = {{.match = {.node = "", .uuid = "", .model = "NVIDIA-GeForce-RTX-4070", .index = {}},
                         .count = 2,
                         .memory_scaling = {},
                         .core_scaling = {}}};
  EXPECT_EQ(split_of(settings, "gpu-1", test::gpu(0)), settings::Split{});
}

TEST(EnforcementOf, ALaterOverrideWinsKeyByKey) {
  using settings::Enforce;
  using settings::OnExcess;
  settings::Settings settings;
  settings.enforcement = {Enforce::kLibrary, 100, 30, 64, OnExcess::kReport};
  const auto override_of = [](std::int64_t index, const settings::EnforcementOverride& given) {
    settings::Override one;
    one.match.index = index;
    one.enforcement = given;
    return one;
  };
  settings.overrides = {override_of(0, {{}, 200, {}, {}, OnExcess::kEnd}), override_of(0, {{}, {}, 0, 1, {}}),
                        override_of(1, {Enforce::kNone, {}, {}, {}, {}})};
  settings.overrides[0].match.node = "gpu-1";
  const auto of = [&](std::int64_t index, const std::string& node) {
    return enforcement_of(settings, node, test::gpu(index));
  };
  EXPECT_EQ(of(0, "gpu-1"), (settings::Enforcement{Enforce::kLibrary, 200, 0, 1, OnExcess::kEnd}));
  EXPECT_EQ(of(0, "gpu-2"), (settings::Enforcement{Enforce::kLibrary, 100, 0, 1, OnExcess::kReport}));
  EXPECT_EQ(of(1, "gpu-1"), (settings::Enforcement{Enforce::kNone, 100, 30, 64, OnExcess::kReport}));
  EXPECT_EQ(of(2, "gpu-1"), settings.enforcement);
}

TEST(SliceId, FitsTheKubeletWithRealUuids) {
  EXPECT_EQ(slice_id(test::uuid(7), 99), "GPU-00000000-0000-0000-0000-000000000007::99");
  EXPECT_LE(slice_id(test::uuid(7), 99).size(), 63U);
}

}  // namespace
}  // namespace gpupool::slices
