// SPDX-License-Identifier: Apache-2.0
#include "agent/limits_keeper.h"

#include <algorithm>
#include <set>
#include <string>

#include "allocation/allocate.h"

namespace gpupool::agent {

namespace {

constexpr auto kEvery = std::chrono::minutes(1);
constexpr auto kUnused = std::chrono::hours(24);

// The limits of a container do not depend on the health of its GPU.
slices::Resource as_if_healthy(slices::Resource resource) {
  for (auto& slice : resource.slices) slice.healthy = true;
  return resource;
}

}  // namespace

void LimitsKeeper::keep(const std::vector<kubelet::Holding>& holdings, const slices::Table& table,
                        const kubelet::Rules& rules, base::SteadyTime now, base::WallTime wall) {
  if (last_ && now - *last_ < kEvery) return;
  last_ = now;
  std::set<std::string> needed;
  for (const auto& offered : table.resources) {
    const auto resource = as_if_healthy(offered);
    for (const auto& holding : holdings) {
      if (holding.resource != resource.name) continue;
      const auto grant = allocation::allocate(resource, holding.ids, rules.settings, rules.paths, access_);
      if (!grant) continue;  // of a table that is no more
      for (const auto& file : grant->files) {
        needed.insert(file.name);
        if (auto put = store_.put(file); !put) {
          log_.error("Cannot keep a limits file", {{"error", put.error().message}});
        }
      }
    }
  }
  const int removed = store_.collect(needed, wall - kUnused);
  if (removed > 0) log_.info("Removed limits files that nobody needs", {{"files", removed}});
}

}  // namespace gpupool::agent
