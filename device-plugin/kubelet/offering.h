#pragma once

#include <functional>

#include "base/log.h"
#include "base/metrics.h"
#include "kubelet/allocation_gate.h"
#include "kubelet/limits_store.h"
#include "kubelet/rules.h"
#include "slices/board.h"

namespace gpupool::kubelet {

// What the servers of all resources answer from. Everything referred to outlives them.
struct Offering {
  const slices::Board& board;
  const CurrentRules& rules;
  const LimitsStore& limits;
  AllocationGate& gate;
  base::Metrics& metrics;
  const base::Log& log;
  std::function<void()> on_allocated = [] {};  // called on gRPC's threads; must not block
};

}  // namespace gpupool::kubelet
