// SPDX-License-Identifier: Apache-2.0
#include "agent/limits_keeper.h"

#include <algorithm>

#include "allocation/allocate.h"
#include "allocation/devices.h"
#include "allocation/limits_file.h"

namespace gpupool::agent {

namespace {

constexpr auto kEvery = std::chrono::minutes(1);
constexpr auto kUnused = std::chrono::hours(24);

}  // namespace

void LimitsKeeper::keep_one(const slices::Resource& resource, const kubelet::Holding& holding) {
  const auto devices = allocation::held_devices(resource, holding.ids);
  if (!devices) return;  // of a table that is no more
  if (std::none_of(devices->begin(), devices->end(), [](const auto& one) { return one.gpu->limited; }))
    return;
  const auto plain = allocation::limits_file(*devices);
  const auto enforced = allocation::enforced_files(resource.name, holding.ids, *devices);
  needed_.insert(plain.name);
  const auto check = [&](const base::Result<void>& kept, const char* what) {
    if (!kept) log_.error(what, {{"error", kept.error().message}});
  };
  // The settings may have changed since the container was allocated: what it has mounted is what it needs.
  if (store_.has(enforced.limits.name)) {
    check(store_.put(enforced.limits), "Cannot keep a limits file");
    check(regions_.restore(enforced.region), "Cannot keep a region");
  } else {
    check(store_.put(plain), "Cannot keep a limits file");
  }
}

void LimitsKeeper::keep(const std::vector<kubelet::Holding>& holdings, const slices::Table& table,
                        base::SteadyTime now, base::WallTime wall) {
  if (last_ && now - *last_ < kEvery) return;
  last_ = now;
  needed_.clear();
  needed_regions_.clear();
  for (const auto& holding : holdings) {
    needed_.insert(allocation::enforced_limits_name(holding.resource, holding.ids));
    needed_regions_.insert(allocation::region_name(holding.resource, holding.ids));
  }
  for (const auto& resource : table.resources) {
    for (const auto& holding : holdings) {
      if (holding.resource == resource.name) keep_one(resource, holding);
    }
  }
  const int removed = store_.collect(needed_, wall - kUnused);
  if (removed > 0) log_.info("Removed limits files that nobody needs", {{"files", removed}});
  regions_.collect(needed_regions_, wall - kUnused);
}

}  // namespace gpupool::agent
