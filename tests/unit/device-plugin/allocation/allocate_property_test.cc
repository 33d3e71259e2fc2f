// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "tests/unit/device-plugin/allocation/resources.h"

namespace gpupool::allocation {
namespace {

settings::Settings any_settings() {
  settings::Settings settings = slices::test::split(*rc::gen::inRange<std::int64_t>(1, 8));
  settings.resource_name = "example.com/gpu";
  settings.policy =
      *rc::gen::element(settings::Policy::kPack, settings::Policy::kSpread, settings::Policy::kDistinct);
  settings.overrides = {test::split_gpu(0, *rc::gen::inRange<std::int64_t>(1, 4))};
  settings.passing = {.environment = true,
                      .device_nodes = *rc::gen::arbitrary<bool>(),
                      .cdi_devices = *rc::gen::arbitrary<bool>(),
                      .cdi_annotations = *rc::gen::arbitrary<bool>()};
  return settings;
}

// Some slices of the resource, and now and then one that is not its own.
std::vector<std::string> any_ids(const slices::Resource& resource) {
  std::vector<std::string> ids;
  for (const std::size_t pick : *rc::gen::container<std::vector<std::size_t>>(
           rc::gen::inRange<std::size_t>(0, resource.slices.size()))) {
    const std::string& id = resource.slices[pick].id;
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  }
  if (*rc::gen::inRange(0, 10) == 0) ids.push_back(*rc::gen::arbitrary<std::string>());
  return ids;
}

RC_GTEST_PROP(AllocateProperty, TheSameIdsAlwaysGetTheSameAnswer, ()) {
  const settings::Settings settings = any_settings();
  const slices::Resource resource = test::resource_of(test::machine(3), settings);
  std::vector<std::string> ids = any_ids(resource);
  NodePaths paths;
  if (*rc::gen::arbitrary<bool>()) paths.limiter_directory = "/opt/limiter";
  const auto first = allocate(resource, ids, settings, paths);
  const auto again = allocate(resource, ids, settings, paths);
  std::sort(ids.begin(), ids.end());
  const auto sorted = allocate(resource, ids, settings, paths);
  std::reverse(ids.begin(), ids.end());
  const auto reversed = allocate(resource, ids, settings, paths);
  RC_ASSERT(first.has_value() == again.has_value());
  RC_ASSERT(first.has_value() == sorted.has_value());
  RC_ASSERT(first.has_value() == reversed.has_value());
  if (!first) {
    RC_ASSERT(first.error().code == sorted.error().code);
    RC_ASSERT(!first.error().message.empty());
    return;
  }
  RC_ASSERT(*first == *again);
  RC_ASSERT(*first == *sorted);
  RC_ASSERT(*first == *reversed);
}

RC_GTEST_PROP(AllocateProperty, TheLimitsOfAContainerAreTheSumOfItsSlices, ()) {
  const settings::Settings settings = any_settings();
  const slices::Resource resource = test::resource_of(test::machine(3), settings);
  const std::vector<std::string> ids = any_ids(resource);
  const auto grant = allocate(resource, ids, settings, {});
  RC_PRE(grant.has_value());
  std::int64_t expected = 0;
  for (const auto& slice : resource.slices) {
    const bool chosen = std::find(ids.begin(), ids.end(), slice.id) != ids.end();
    const auto gpu = std::find_if(resource.gpus.begin(), resource.gpus.end(),
                                  [&](const auto& one) { return one.uuid == slice.gpu; });
    if (chosen && gpu->limited) expected += slice.memory_mib;
  }
  std::int64_t limits = 0;
  for (const auto& [name, value] : grant->environment) {
    if (name.starts_with("CUDA_DEVICE_MEMORY_LIMIT_")) limits += std::stoll(value);
  }
  RC_ASSERT(limits == expected);
}

}  // namespace
}  // namespace gpupool::allocation
