// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpujob/node_readiness.h"

namespace gpupool::controllers {

base::Duration NodeReadiness::not_ready_for(const api::Node& node) {
  const auto* ready = node.ready_condition();
  const base::MutexLock lock(mutex_);
  if (ready == nullptr || ready->status == "True") {
    absent_.erase(node.metadata.name);
    return base::Duration::zero();
  }
  const auto now = clock_.now();
  auto& absence = absent_[node.metadata.name];
  const bool same_node = absence.uid == node.metadata.uid;
  const bool returned = absence.status == ready->status && absence.stamp != ready->last_transition_time;
  if (!same_node || returned) absence.since = now;
  absence.uid = node.metadata.uid;
  absence.status = ready->status;
  absence.stamp = ready->last_transition_time;
  return now - absence.since;
}

void NodeReadiness::forget(const std::string& name) {
  const base::MutexLock lock(mutex_);
  absent_.erase(name);
}

}  // namespace gpupool::controllers
