#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "planning/membership.h"
#include "runtime/cache/store.h"

namespace gpupool::controllers {

// Whether a change of a pool can matter to anybody but those who read its status.
inline bool concerns_others(const runtime::Change<api::GpuPool>& change) {
  if (!change.before || !change.after) return true;
  const auto& before = change.before->metadata;
  const auto& after = change.after->metadata;
  return before.uid != after.uid || before.generation != after.generation ||
         before.finalizers != after.finalizers || before.deleting() != after.deleting();
}

// Whether a change of a node can matter to a pool: a heartbeat does not, nor does an annotation.
inline bool concerns_pools(const runtime::Change<api::Node>& change) {
  if (!change.before || !change.after) return true;
  const auto& before = *change.before;
  const auto& after = *change.after;
  return before.metadata.uid != after.metadata.uid || before.metadata.labels != after.metadata.labels ||
         before.metadata.deleting() != after.metadata.deleting() || before.spec.taints != after.spec.taints ||
         before.spec.unschedulable != after.spec.unschedulable || before.ready() != after.ready() ||
         before.status.allocatable != after.status.allocatable;
}

// Which pool a node belongs to, as of the pools' last change. Thread-safe.
class PoolPlacement {
 public:
  using Rules = std::shared_ptr<const planning::Membership>;

  void update(const std::vector<std::shared_ptr<const api::GpuPool>>& pools) {
    auto rules = std::make_shared<const planning::Membership>(pools);
    const std::lock_guard lock(mutex_);
    rules_ = std::move(rules);
  }
  Rules current() const {
    const std::lock_guard lock(mutex_);
    return rules_;
  }

 private:
  mutable std::mutex mutex_;
  Rules rules_ =
      std::make_shared<const planning::Membership>(std::vector<std::shared_ptr<const api::GpuPool>>());
};

}  // namespace gpupool::controllers
