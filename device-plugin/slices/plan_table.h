// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "inventory/gpu.h"
#include "settings/settings.h"
#include "slices/resource_names.h"
#include "slices/table.h"

namespace gpupool::slices {

// What the table is planned from besides inventory and settings.
struct Circumstances {
  std::string node;
  std::map<std::string, std::string> unhealthy;  // GPU UUID -> why
  std::set<std::string> in_use;                  // device IDs that containers hold (podresources)
  bool in_use_known = false;                     // false: podresources could not be read; nothing may shrink
  Table previous;  // what was published last; after a start, as saved_table.h has it
  ResourceNames names;
};

struct Planned {
  Table table;
  std::vector<std::string>
      notes;  // for the owner: over-commit, remainders, GPUs left out and why, what waits
  // A GPU waits for its new cut: plan again a second later or so, with in_use asked for anew.
  bool waiting = false;
  bool operator==(const Planned&) const = default;
};

// Plans the table that the node advertises. Pure; called by the agent's thread at every look.
//
// A GPU whose cut, kind or resource name changes keeps its old slices until none of them is in use:
//   - slices in use stay as they are
//   - free slices turn unhealthy, so that the kubelet gives them to nobody
//   - the new cut comes in a later plan: when the last table had all old slices unhealthy and none is in use
//
// So an allocation that podresources does not list yet is never overlooked.
//
// A GPU that the driver no longer lists keeps its slices, unhealthy, as long as one is in use or the GPU
// counts as unhealthy. kInvalidArgument: a cut that is impossible; the message names the GPU and the setting.
base::Result<Planned> plan_table(const inventory::Inventory& inventory, const settings::Settings& settings,
                                 const Circumstances& circumstances);

}  // namespace gpupool::slices
