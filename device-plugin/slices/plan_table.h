#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "inventory/gpu.h"
#include "settings/settings.h"
#include "slices/table.h"

namespace gpupool::slices {

// What one GPU is cut into.
struct Cut {
  std::int64_t count = 1;
  std::int64_t memory_mib = 0;       // of each slice: floor(M x memoryScaling / K)
  std::int64_t cores = 0;            // of each slice: floor(100 x coreScaling / K)
  std::int64_t memory_left_mib = 0;  // what the floors leave over
  std::int64_t cores_left = 0;
  bool overcommits = false;
  bool operator==(const Cut&) const = default;
};

// kInvalidArgument if a slice would have nothing. Pure.
base::Result<Cut> cut(std::int64_t memory_mib, const settings::Split& split);
// The split of one GPU of this node after all overrides.
settings::Split split_of(const settings::Settings& settings, const std::string& node,
                         const inventory::Gpu& gpu);
// "<GPU UUID>::<ordinal>"; of a whole GPU or a MIG instance its UUID.
std::string slice_id(const std::string& uuid, std::int64_t ordinal);

// What the table is planned from besides inventory and settings.
struct Circumstances {
  std::string node;
  std::map<std::string, std::string> unhealthy;  // GPU UUID -> why
  std::set<std::string> in_use;                  // device IDs that containers hold (podresources)
  bool in_use_known = false;                     // false: podresources could not be read; nothing may shrink
  Table previous;
};

struct Planned {
  Table table;
  std::vector<std::string>
      notes;  // for the owner: over-commit, remainders, GPUs left out and why, what waits
  bool operator==(const Planned&) const = default;
};

// A GPU whose cut changes keeps its old slices as long as one of them is in use: used ones stay as they are,
// the free ones of them turn unhealthy, and the new cut comes when all are free. kInvalidArgument: a cut that
// cannot be, which names the GPU and the setting. Pure.
base::Result<Planned> plan_table(const inventory::Inventory& inventory, const settings::Settings& settings,
                                 const Circumstances& circumstances);

}  // namespace gpupool::slices
