// SPDX-License-Identifier: Apache-2.0
#include "checks/ports.h"

#include <gtest/gtest.h>

#include "tests/unit/preflight/judged.h"

namespace gpupool::checks {
namespace {

TEST(NodePorts, AreThoseOfKubeletAndServiceProxy) {
  EXPECT_EQ(node_ports(), (std::vector<std::uint16_t>{10250, 10248, 10256}));
}

TEST(JudgePorts, FreeOrTheirs) {
  test::expect_judged(judge_ports({{10250, false, "", 0}, {10248, false, "", 0}}),
                      {Verdict::kOk, "10250 free, 10248 free"});
  test::expect_judged(
      judge_ports(
          {{10250, true, "kubelet", 400}, {10248, true, "kubelet", 200}, {10256, true, "kube-proxy", 200}}),
      {Verdict::kOk, "10250 kubelet, 10248 kubelet, 10256 kube-proxy"});
}

TEST(JudgePorts, UnseenIsNotFree) {
  test::expect_judged(judge_ports({}), {Verdict::kWarn, "cannot be seen", "ss -ltnp"});
}

TEST(JudgePorts, OfOneThatIsTaken) {
  struct Case {
    PortFacts facts;
    test::Expected expected;
  };
  const std::vector<Case> cases{
      {{10256, true, "cilium-agent", 200}, {Verdict::kOk, "10256 cilium-agent"}},
      {{10250, true, "", 400}, {Verdict::kOk, "10250 kubelet"}},
      {{10256, true, "", 503}, {Verdict::kOk, "10256 kube-proxy"}},
      {{10250, true, "nginx", 400},
       {Verdict::kFail, "port 10250 of the kubelet is held by nginx", "ss -ltnp 'sport = :10250'"}},
      {{10256, true, "kubelet", 200}, {Verdict::kFail, "held by kubelet", "ss -ltnp"}},
      {{10248, true, "kubelet", 0},
       {Verdict::kFail, "held by kubelet, which does not answer", "journalctl -u kubelet"}},
      {{10248, true, "", 0}, {Verdict::kFail, "a program that does not answer", "ss -ltnp"}},
      {{10250, true, "", 200}, {Verdict::kFail, "a program that is no kubelet", "ss -ltnp"}},
  };
  for (const auto& test_case : cases) test::expect_judged(judge_ports({test_case.facts}), test_case.expected);
}

}  // namespace
}  // namespace gpupool::checks
