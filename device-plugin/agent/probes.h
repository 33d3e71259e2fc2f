// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "agent/plugin_set.h"
#include "agent/snapshot.h"
#include "base/clock.h"

namespace gpupool::agent {

struct ProbeAnswer {
  bool good = true;
  std::string text;  // for people, ends with a newline
};

// Liveness: good if the agent has finished a look within the last minute. A restart helps if a call of the
// driver hangs.
ProbeAnswer alive(const Snapshot& snapshot, base::SteadyTime started, base::SteadyTime now);
// Readiness: good if there is a driver, the configuration is in force and the kubelet has every resource. A
// plugin that waits for the end of its predecessor counts as ready, otherwise a rolling update would never
// proceed.
ProbeAnswer ready(const Snapshot& snapshot, const std::vector<PluginSet::Entry>& plugins);

}  // namespace gpupool::agent
