#pragma once

#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "kubelet/limits_store.h"
#include "kubelet/pod_resources.h"
#include "kubelet/rules.h"
#include "slices/table.h"

namespace gpupool::agent {

// Puts back the limits files that running containers need, should the directory have been emptied or a power
// cut have left half a file: a container that restarts is not allocated again. Removes those that nobody has
// needed for a day, since podresources leaves some init containers out. Not thread-safe.
class LimitsKeeper {
 public:
  LimitsKeeper(const kubelet::LimitsStore& store, const base::Log& log) : store_(store), log_(log) {}

  // Does something about once a minute. `holdings` must be complete.
  void keep(const std::vector<kubelet::Holding>& holdings, const slices::Table& table,
            const kubelet::Rules& rules, base::SteadyTime now, base::WallTime wall);

 private:
  const kubelet::LimitsStore& store_;
  base::Log log_;
  std::optional<base::SteadyTime> last_;
};

}  // namespace gpupool::agent
