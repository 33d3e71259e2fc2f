// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "allocation/container_access.h"
#include "base/latest.h"
#include "base/log.h"
#include "base/metrics.h"
#include "enforcement/region_store.h"
#include "kubelet/allocation_gate.h"
#include "kubelet/limits_store.h"
#include "kubelet/rules.h"
#include "slices/latest_table.h"

namespace gpupool::kubelet {

// What the plugins of all resources share: the data that they answer from and where they report. main() makes
// one; the agent writes the data, gRPC's threads read it. All of it is thread-safe and outlives the plugins.
struct PluginContext {
  const slices::LatestTable& latest_table;
  const base::Latest<Rules>& rules;
  const LimitsStore& limits;
  const enforcement::RegionStore& regions;
  const allocation::ContainerAccess& access;
  AllocationGate& gate;
  base::Metrics& metrics;
  const base::Log& log;
  std::function<void()> on_allocated = [] {};  // called on gRPC's threads; must not block
};

}  // namespace gpupool::kubelet
