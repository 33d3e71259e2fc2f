// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "enforcement/audit.h"
#include "enforcement/counted_container.h"
#include "report/node_report.h"

namespace gpupool::agent {

// Everything that one look of the agent found, for metrics and probes. Immutable once published; read on the
// HTTP server's threads through base::Latest<Snapshot>.
struct Snapshot {
  report::Facts facts;
  std::string driver_problem;      // empty: there is a driver
  std::string settings_problem;    // empty: the file's settings are in force
  std::string limiter_problem;     // empty: the limiter is on the node, or nobody asks for it
  std::vector<std::string> notes;  // for the owner
  std::vector<enforcement::CountedContainer> enforced;
  std::vector<enforcement::Finding> findings;
  base::SteadyTime taken{};
};

}  // namespace gpupool::agent
