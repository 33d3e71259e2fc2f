// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "allocation/container_access.h"
#include "base/clock.h"
#include "base/log.h"
#include "kubelet/limits_store.h"
#include "kubelet/pod_resources.h"
#include "kubelet/rules.h"
#include "slices/table.h"

namespace gpupool::agent {

// Writes again the limits files that running containers need, in case the directory was emptied or a loss of
// power left half a file: the kubelet does not call Allocate when a container restarts. Removes files that no
// container has needed for a day; the day is for init containers that podresources does not list. Used by the
// agent's thread; not thread-safe.
class LimitsKeeper {
 public:
  LimitsKeeper(const kubelet::LimitsStore& store, const allocation::ContainerAccess& access,
               const base::Log& log)
      : store_(store), access_(access), log_(log) {}

  // Works at most once a minute; calls in between return at once.
  //
  // REQUIRES: `holdings` is complete (PodWatch::complete()), otherwise files in use would be removed.
  void keep(const std::vector<kubelet::Holding>& holdings, const slices::Table& table,
            const kubelet::Rules& rules, base::SteadyTime now, base::WallTime wall);

 private:
  const kubelet::LimitsStore& store_;
  const allocation::ContainerAccess& access_;
  base::Log log_;
  std::optional<base::SteadyTime> last_;
};

}  // namespace gpupool::agent
