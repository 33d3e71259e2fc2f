// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "tests/unit/device-plugin/slices/builders.h"

namespace gpupool::slices {
namespace {

settings::Split any_split() {
  return {.count = *rc::gen::inRange<std::int64_t>(1, 101),
          .memory_scaling = *rc::gen::inRange<std::int64_t>(1, 100'001),
          .core_scaling = *rc::gen::inRange<std::int64_t>(1, 100'001)};
}

RC_GTEST_PROP(CutProperty, SlicesNeverExceedTheGpuTimesScalingAndNothingIsLost, ()) {
  const std::int64_t memory = *rc::gen::inRange<std::int64_t>(1, 2'000'000);
  const settings::Split split = any_split();
  const auto result = cut(memory, split);
  if (!result) {
    RC_ASSERT(memory * split.memory_scaling < 1000 * split.count ||
              100 * split.core_scaling < 1000 * split.count);
    return;
  }
  // In thousandths of a MiB and of a percent: no rounding in the test.
  const std::int64_t given_mib = result->count * result->memory_mib + result->memory_left_mib;
  RC_ASSERT(result->count == split.count);
  RC_ASSERT(given_mib * 1000 <= memory * split.memory_scaling);
  RC_ASSERT((given_mib + 1) * 1000 > memory * split.memory_scaling);
  RC_ASSERT((result->memory_mib + 1) * result->count * 1000 > memory * split.memory_scaling);
  const std::int64_t given_cores = result->count * result->cores + result->cores_left;
  RC_ASSERT(given_cores * 1000 <= 100 * split.core_scaling);
  RC_ASSERT((given_cores + 1) * 1000 > 100 * split.core_scaling);
  RC_ASSERT((result->cores + 1) * result->count * 1000 > 100 * split.core_scaling);
  RC_ASSERT(result->memory_left_mib >= 0);
  RC_ASSERT(result->cores_left >= 0);
}

RC_GTEST_PROP(SliceIdProperty, AreUniqueShortAndTheSameEveryTime, ()) {
  const auto gpus = *rc::gen::inRange<std::int64_t>(1, 9);
  inventory::Inventory inventory = test::machine(gpus, 100'000);
  const settings::Settings settings = test::split(*rc::gen::inRange<std::int64_t>(1, 101));
  const Table table = test::plan(inventory, settings, test::after({})).table;
  std::set<std::string> ids;
  for (const Resource& resource : table.resources) {
    for (const Slice& slice : resource.slices) {
      RC_ASSERT(slice.id.size() <= 63U);
      RC_ASSERT(ids.insert(slice.id).second);
    }
  }
  RC_ASSERT(ids.size() == static_cast<std::size_t>(gpus * settings.split.count));
  // After a reboot that numbers the GPUs anew, the IDs are those of the same GPUs.
  for (auto& gpu : inventory.gpus) gpu.index = gpus - 1 - gpu.index;
  std::set<std::string> again;
  for (const Resource& resource : test::plan(inventory, settings, test::after({})).table.resources) {
    for (const Slice& slice : resource.slices) again.insert(slice.id);
  }
  RC_ASSERT(ids == again);
}

}  // namespace
}  // namespace gpupool::slices
