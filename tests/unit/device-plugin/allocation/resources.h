// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "allocation/allocate.h"
#include "allocation/prefer.h"
#include "nvidia/container_access.h"
#include "tests/unit/device-plugin/slices/builders.h"

namespace gpupool::allocation {

// With NVIDIA's way into containers.
inline base::Result<Grant> allocate(const slices::Resource& resource, const std::vector<std::string>& ids,
                                    const settings::Settings& settings, const NodePaths& paths) {
  return allocate(resource, ids, settings, paths, *nvidia::make_container_access());
}

}  // namespace gpupool::allocation

namespace gpupool::allocation::test {

using slices::test::gpu;
using slices::test::machine;
using slices::test::slice;
using slices::test::uuid;

// The only resource that a machine with these settings advertises.
inline slices::Resource resource_of(const inventory::Inventory& inventory,
                                    const settings::Settings& settings) {
  const auto table = slices::test::plan(inventory, settings, slices::test::after({})).table;
  return table.resources.empty() ? slices::Resource{} : table.resources.front();
}
inline slices::Resource sliced(std::int64_t gpus, std::int64_t count,
                               settings::Policy policy = settings::Policy::kPack) {
  settings::Settings settings = slices::test::split(count);
  settings.policy = policy;
  return resource_of(machine(gpus), settings);
}

// GPU `index` has another number of slices.
inline settings::Override split_gpu(std::int64_t index, std::int64_t count) {
  settings::Override result;
  result.match.index = index;
  result.count = count;
  return result;
}

// "0::3" for the ID of slice 3 of GPU 0.
inline std::string brief(const std::string& id) {
  const auto end = id.find("::");
  const std::string uuid = id.substr(0, end);
  const auto digit = uuid.find_last_of('-');
  const auto first = uuid.find_first_not_of('0', digit + 1);
  return (first == std::string::npos ? "0" : uuid.substr(first)) +
         (end == std::string::npos ? "" : id.substr(end));
}
inline std::string brief(const std::vector<std::string>& ids) {
  std::string text;
  for (const std::string& id : ids) text += (text.empty() ? "" : " ") + brief(id);
  return text;
}

}  // namespace gpupool::allocation::test
