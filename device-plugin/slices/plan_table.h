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

// kInvalidArgument if a slice would have nothing; the message names the settings. Pure.
base::Result<Cut> cut(std::int64_t memory_mib, const settings::Split& split);
// The split of one GPU of this node after all overrides. An override for a model may have spaces for "-".
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
  Table previous;  // what was published last; after a start, as saved_table.h has it
};

struct Planned {
  Table table;
  std::vector<std::string>
      notes;  // for the owner: over-commit, remainders, GPUs left out and why, what waits
  // A GPU waits for its new cut: plan again a second later or so, with in_use asked for anew.
  bool waiting = false;
  bool operator==(const Planned&) const = default;
};

// A GPU whose cut, kind or resource name changes keeps its old slices until none is in use: used ones stay as
// they are, the free ones turn unhealthy, and the new cut comes in a plan after one whose table had them all
// unhealthy. So a slice that was allocated while podresources was being read is still counted. A GPU that the
// driver lists no more keeps its slices, unhealthy, as long as they are used or the GPU counts as unhealthy.
// kInvalidArgument: a cut that cannot be, which names the GPU and the setting. Pure.
base::Result<Planned> plan_table(const inventory::Inventory& inventory, const settings::Settings& settings,
                                 const Circumstances& circumstances);

}  // namespace gpupool::slices
