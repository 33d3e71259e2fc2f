// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "slices/cut.h"
#include "slices/plan_table.h"

namespace gpupool::slices::test {

// The names of resources in all these tests.
inline const ResourceNames kNames{.whole = "nvidia.com/gpu", .partition_prefix = "nvidia.com/mig-"};

// UUIDs as long as real ones: "GPU-00000000-0000-0000-0000-00000000000<index>".
std::string uuid(std::int64_t index);
inventory::Gpu gpu(std::int64_t index, std::int64_t memory_mib = 16376);
inventory::Inventory machine(std::int64_t gpus, std::int64_t memory_mib = 16376);
settings::Settings split(std::int64_t count, settings::Milli memory = 1000, settings::Milli cores = 1000);

// Plans, and fails the test if that is refused.
Planned plan(const inventory::Inventory& inventory, const settings::Settings& settings,
             const Circumstances& circumstances);
// Podresources are known, and these IDs are in use.
Circumstances after(const Table& previous, std::set<std::string> in_use = {});

const Resource* find(const Table& table, const std::string& resource);
const Slice* find_slice(const Table& table, const std::string& id);
// "GPU-...0::3" for slice(0, 3).
std::string slice(std::int64_t index, std::int64_t ordinal);
// "0::0 0::1! 1": the slices with their GPU's index, "!" for unhealthy ones; "name:" before each resource.
std::string picture(const Table& table);

}  // namespace gpupool::slices::test
