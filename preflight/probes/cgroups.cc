// SPDX-License-Identifier: Apache-2.0
#include "probes/cgroups.h"

#include <sstream>

namespace gpupool::probes {

checks::CgroupFacts cgroups(const HostRoot& root) {
  checks::CgroupFacts facts;
  if (const auto unified = root.read("/sys/fs/cgroup/cgroup.controllers")) {
    facts.version = 2;
    std::istringstream words(*unified);
    for (std::string word; words >> word;) facts.controllers.insert(word);
    return facts;
  }
  // cgroups(7): name, hierarchy (0: not mounted as v1), number of groups, enabled.
  std::istringstream lines(root.read("/proc/cgroups").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    int hierarchy = 0;
    int groups = 0;
    int enabled = 0;
    if (words >> name >> hierarchy >> groups >> enabled && hierarchy != 0 && enabled == 1) {
      facts.controllers.insert(name);
    }
  }
  facts.version = facts.controllers.empty() ? 0 : 1;
  return facts;
}

}  // namespace gpupool::probes
