// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "api/core/node.h"
#include "base/clock.h"
#include "base/mutex.h"

namespace gpupool::controllers {

// How long each node has not been ready, by the steady clock of this process: time stamps on nodes come from
// other clocks, which may be wrong. A new process starts counting again. Thread-safe.
class NodeReadiness {
 public:
  explicit NodeReadiness(const base::Clock& clock) : clock_(clock) {}

  // Returns zero for a ready node; the first call for a node that is not ready starts its count. The statuses
  // False (kubelet) and Unknown (node controller) count as one absence. A new time stamp with the same status
  // starts a new one, because the node was back in between.
  base::Duration not_ready_for(const api::Node& node);
  // Call when the node is gone.
  void forget(const std::string& name);

 private:
  struct Absence {
    std::string uid;
    std::string status;
    std::optional<base::WallTime> stamp;
    base::SteadyTime since;
  };

  const base::Clock& clock_;
  base::Mutex mutex_;
  std::unordered_map<std::string, Absence> absent_ GPUPOOL_GUARDED_BY(mutex_);  // by name
};

}  // namespace gpupool::controllers
