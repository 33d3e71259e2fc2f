// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/device-plugin/slices/builders.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace gpupool::slices::test {

std::string uuid(std::int64_t index) {
  const std::string number = std::to_string(index);
  return "GPU-00000000-0000-0000-0000-" + std::string(12 - number.size(), '0') + number;
}

inventory::Gpu gpu(std::int64_t index, std::int64_t memory_mib) {
  inventory::Gpu result;
  result.uuid = uuid(index);
  result.index = index;
  result.minor = index;
  result.model = "NVIDIA-GeForce-RTX-4070-Ti-SUPER";
  result.memory_mib = memory_mib;
  return result;
}

inventory::Inventory machine(std::int64_t gpus, std::int64_t memory_mib) {
  inventory::Inventory result;
  for (std::int64_t i = 0; i < gpus; ++i) result.gpus.push_back(gpu(i, memory_mib));
  return result;
}

settings::Settings split(std::int64_t count, settings::Milli memory, settings::Milli cores) {
  settings::Settings result;
  result.split = {.count = count, .memory_scaling = memory, .core_scaling = cores};
  return result;
}

Planned plan(const inventory::Inventory& inventory, const settings::Settings& settings,
             const Circumstances& circumstances) {
  auto planned = plan_table(inventory, settings, circumstances);
  EXPECT_TRUE(planned.has_value()) << planned.error().message;
  return planned ? *planned : Planned{};
}

Circumstances after(const Table& previous, std::set<std::string> in_use) {
  Circumstances result;
  result.node = "gpu-1";
  result.in_use = std::move(in_use);
  result.in_use_known = true;
  result.previous = previous;
  result.names = kNames;
  return result;
}

const Resource* find(const Table& table, const std::string& resource) {
  const auto found = std::find_if(table.resources.begin(), table.resources.end(),
                                  [&](const Resource& one) { return one.name == resource; });
  return found == table.resources.end() ? nullptr : &*found;
}

const Slice* find_slice(const Table& table, const std::string& id) {
  for (const Resource& resource : table.resources) {
    for (const Slice& one : resource.slices) {
      if (one.id == id) return &one;
    }
  }
  return nullptr;
}

std::string slice(std::int64_t index, std::int64_t ordinal) { return slice_id(uuid(index), ordinal); }

std::string picture(const Table& table) {
  std::string text;
  for (const Resource& resource : table.resources) {
    text += (text.empty() ? "" : " ") + resource.name + ":";
    for (const Slice& one : resource.slices) {
      const auto of = std::find_if(resource.gpus.begin(), resource.gpus.end(),
                                   [&](const SlicedGpu& candidate) { return candidate.uuid == one.gpu; });
      const std::string index = of == resource.gpus.end() ? "?" : std::to_string(of->index);
      const std::string rest = one.id.starts_with(one.gpu) ? one.id.substr(one.gpu.size()) : "/" + one.id;
      text += " " + index + rest + (one.healthy ? "" : "!");
    }
  }
  return text;
}

}  // namespace gpupool::slices::test
