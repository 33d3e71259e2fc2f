// SPDX-License-Identifier: Apache-2.0
#include "checks/kubelet.h"

#include <gtest/gtest.h>

#include "tests/unit/preflight/judged.h"

namespace gpupool::checks {
namespace {

constexpr UnixSocket kNone{};
constexpr UnixSocket kDead{.exists = true, .answers = false};
constexpr UnixSocket kAnswering{.exists = true, .answers = true};

TEST(JudgeKubelet, NeedsBothSocketsOnceItRuns) {
  struct Case {
    bool configured;
    bool process;
    UnixSocket device_plugins;
    UnixSocket pod_resources;
    test::Expected expected;
  };
  const std::vector<Case> cases{
      {false, false, kNone, kNone, {Verdict::kOk, "not installed yet"}},
      {true,
       false,
       kNone,
       kNone,
       {Verdict::kWarn, "there is a kubelet in /k, but it does not run", "systemctl enable --now kubelet"}},
      {true, false, kDead, kDead, {Verdict::kWarn, "does not run", "journalctl"}},
      {true, true, kAnswering, kAnswering, {Verdict::kOk, "runs, takes device plugins"}},
      {false, false, kAnswering, kAnswering, {Verdict::kOk, "runs"}},
      {true,
       true,
       kNone,
       kAnswering,
       {Verdict::kFail, "/k/device-plugins/kubelet.sock does not exist", "--kubelet-directory"}},
      {true,
       true,
       kDead,
       kAnswering,
       {Verdict::kFail, "/k/device-plugins/kubelet.sock does not answer", "restart"}},
      {true,
       true,
       kAnswering,
       kNone,
       {Verdict::kFail, "/k/pod-resources/kubelet.sock does not exist", "restart"}},
  };
  for (const auto& c : cases) {
    test::expect_judged(judge_kubelet({"/k", c.configured, c.process, c.device_plugins, c.pod_resources}),
                        c.expected);
  }
}

}  // namespace
}  // namespace gpupool::checks
