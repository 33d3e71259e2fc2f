// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "enforcement/region_store.h"
#include "kubelet/limits_store.h"
#include "kubelet/pod_resources.h"
#include "slices/table.h"

namespace gpupool::agent {

// Writes again the limits files and regions that running containers need, in case the directory was emptied
// or a loss of power left half a file: the kubelet does not call Allocate when a container restarts. Removes
// files that no container has needed for a day; the day is for init containers that podresources does not
// list. Used by the agent's thread; not thread-safe.
class LimitsKeeper {
 public:
  LimitsKeeper(const kubelet::LimitsStore& store, const enforcement::RegionStore& regions,
               const base::Log& log)
      : store_(store), regions_(regions), log_(log) {}

  // Works at most once a minute; calls in between return at once.
  //
  // REQUIRES: `holdings` is complete (PodWatch::complete()), otherwise files in use would be removed.
  void keep(const std::vector<kubelet::Holding>& holdings, const slices::Table& table, base::SteadyTime now,
            base::WallTime wall);

 private:
  void keep_one(const slices::Resource& resource, const kubelet::Holding& holding);

  const kubelet::LimitsStore& store_;
  const enforcement::RegionStore& regions_;
  base::Log log_;
  std::optional<base::SteadyTime> last_;
  std::set<std::string> needed_;          // limits files, of this pass
  std::set<std::string> needed_regions_;  // of this pass
};

}  // namespace gpupool::agent
