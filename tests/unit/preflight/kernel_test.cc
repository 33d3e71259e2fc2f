// SPDX-License-Identifier: Apache-2.0
#include "checks/kernel.h"

#include <gtest/gtest.h>

#include "tests/unit/preflight/judged.h"

namespace gpupool::checks {
namespace {

KernelFacts good() {
  KernelFacts facts;
  facts.release = "6.1.0";
  facts.overlay = KernelModule::kLoaded;
  facts.br_netfilter = KernelModule::kLoaded;
  facts.bridge_calls_iptables = true;
  facts.ip_forward = true;
  facts.node_name = "gpu-1";
  return facts;
}

TEST(JudgeKernel, GoodTellsAll) {
  test::expect_judged(judge_kernel(good()),
                      {Verdict::kOk, "6.1.0, overlay, br_netfilter, ip_forward, no swap, host name gpu-1"});
}

TEST(JudgeKernel, OneThingAtATime) {
  struct Case {
    void (*spoil)(KernelFacts& facts);
    test::Expected expected;
  };
  const std::vector<Case> cases{
      {[](KernelFacts& f) { f.overlay = KernelModule::kLoadable; }, {Verdict::kOk, "overlay"}},
      {[](KernelFacts& f) { f.overlay = KernelModule::kMissing; },
       {Verdict::kFail, "6.1.0 has no overlay", "CONFIG_OVERLAY_FS"}},
      {[](KernelFacts& f) { f.br_netfilter = KernelModule::kLoadable; },
       {Verdict::kWarn, "br_netfilter is not loaded", "modprobe br_netfilter"}},
      {[](KernelFacts& f) { f.br_netfilter = KernelModule::kMissing; },
       {Verdict::kWarn, "no br_netfilter", "CONFIG_BRIDGE_NETFILTER"}},
      {[](KernelFacts& f) { f.bridge_calls_iptables = false; },
       {Verdict::kWarn, "bridge-nf-call-iptables is 0", "sysctl -w"}},
      {[](KernelFacts& f) { f.ip_forward = false; },
       {Verdict::kFail, "ip_forward is 0", "sysctl -w net.ipv4.ip_forward=1"}},
      {[](KernelFacts& f) { f.ip_forward.reset(); }, {Verdict::kFail, "cannot be read", "sysctl"}},
      {[](KernelFacts& f) { f.swaps = {"/dev/sda2", "/swap"}; },
       {Verdict::kWarn, "swap is on (/dev/sda2 /swap)", "swapoff -a"}},
      {[](KernelFacts& f) { f.node_name = "GPU_1"; },
       {Verdict::kFail, "the host name \"GPU_1\" is no DNS name", "hostnamectl"}},
  };
  for (const auto& test_case : cases) {
    auto facts = good();
    test_case.spoil(facts);
    test::expect_judged(judge_kernel(facts), test_case.expected);
  }
}

TEST(NodeName, IsADnsSubdomain) {
  for (const char* name : {"a", "gpu-1", "1.2.3.4", "gpu-1.lab.example.org"})
    EXPECT_EQ(node_name_problem(name), "") << name;
  for (const char* name : {"", "-a", "a-", "a..b", ".a", "a.", "A", "a_b", "a b", "\xC3\xA4", "localhost",
                           "localhost.localdomain"}) {
    EXPECT_NE(node_name_problem(name), "") << name;
  }
  EXPECT_EQ(node_name_problem(std::string(63, 'a')), "");
  EXPECT_NE(node_name_problem(std::string(64, 'a')), "");
}

}  // namespace
}  // namespace gpupool::checks
