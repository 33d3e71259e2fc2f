#pragma once

#include <string>
#include <vector>

#include "agent/plugin_set.h"
#include "agent/snapshot.h"
#include "base/clock.h"

namespace gpupool::agent {

struct Verdict {
  bool good = true;
  std::string text;  // for people, ends with a newline
};

// Alive: the agent went round in the last minute. A hanging driver is cured by a restart.
Verdict alive(const Snapshot& snapshot, base::SteadyTime started, base::SteadyTime now);
// Ready: there is a driver, the configuration is in force and the kubelet has every resource. A plugin that
// waits for its predecessor's end counts as ready, or a rolling update would never go on.
Verdict ready(const Snapshot& snapshot, const std::vector<PluginSet::Entry>& plugins);

}  // namespace gpupool::agent
