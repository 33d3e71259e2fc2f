// SPDX-License-Identifier: Apache-2.0
#include "checks/cgroups.h"

#include <gtest/gtest.h>

#include "tests/unit/preflight/judged.h"

namespace gpupool::checks {
namespace {

TEST(JudgeCgroups, NeedsTheControllersOfAKubelet) {
  struct Case {
    CgroupFacts facts;
    test::Expected expected;
  };
  const std::vector<Case> cases{
      {{2, {"cpu", "cpuset", "io", "memory", "pids"}},
       {Verdict::kOk, "cgroup v2 with cpu cpuset io memory pids"}},
      {{2, {"cpu", "cpuset", "pids"}}, {Verdict::kFail, "cgroup v2 lacks memory", "cgroup_enable=memory"}},
      {{2, {}},
       {Verdict::kFail, "lacks cpu, cpuset, memory, pids", "cgroup_enable=cpu cgroup_enable=cpuset"}},
      {{1, {"cpu", "cpuset", "devices", "memory", "pids"}},
       {Verdict::kWarn, "1.35", "unified_cgroup_hierarchy=1"}},
      {{1, {"cpu", "cpuset", "memory", "pids"}},
       {Verdict::kFail, "cgroup v1 lacks devices", "cgroup_enable=devices"}},
      {{0, {}}, {Verdict::kFail, "no control groups", "mount"}},
  };
  for (const auto& test_case : cases) test::expect_judged(judge_cgroups(test_case.facts), test_case.expected);
}

}  // namespace
}  // namespace gpupool::checks
