// SPDX-License-Identifier: Apache-2.0
#include "checks/cgroups.h"

#include "base/join.h"

namespace gpupool::checks {

Finding judge_cgroups(const CgroupFacts& facts) {
  Judgement judgement("cgroups");
  if (facts.version == 0) {
    judgement.fail("no control groups at /sys/fs/cgroup",
                   "mount -t cgroup2 none /sys/fs/cgroup; in a container, mount the host's /sys");
    return judgement.finding();
  }
  std::vector<std::string> missing;
  for (const char* needed : {"cpu", "cpuset", "memory", "pids", "devices"}) {
    if (std::string(needed) == "devices" && facts.version == 2) continue;
    if (!facts.controllers.contains(needed)) missing.emplace_back(needed);
  }
  const std::string version = "cgroup v" + std::to_string(facts.version);
  judgement.note(version + " with " + base::join(facts.controllers, " "));
  if (!missing.empty()) {
    judgement.fail(version + " lacks " + base::join(missing, ", "),
                   "switch on in the kernel's command line, then reboot: cgroup_enable=" +
                       base::join(missing, " cgroup_enable="));
  }
  if (facts.version == 1) {
    // KEP-5573: failCgroupV1 is true by default.
    judgement.warn("cgroup v1, which kubelets refuse from Kubernetes 1.35 on",
                   "boot with systemd.unified_cgroup_hierarchy=1; or set failCgroupV1: false in the "
                   "kubelet's configuration");
  }
  return judgement.finding();
}

}  // namespace gpupool::checks
