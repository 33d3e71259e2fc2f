// SPDX-License-Identifier: Apache-2.0
#include "checks/ports.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

namespace gpupool::checks {
namespace {

struct Expected {
  std::uint16_t port;
  const char* what;
  std::span<const std::string_view> processes;  // that may hold it
  std::array<int, 2> statuses;                  // of GET /healthz in plain HTTP
};

constexpr std::array<std::string_view, 6> kKubelets{"kubelet",    "kubelite",  "k3s",
                                                    "k3s-server", "k3s-agent", "hyperkube"};
// Some network plugins replace kube-proxy and answer the same probe.
constexpr std::array<std::string_view, 9> kProxies{"kube-proxy",  "cilium-agent", "calico-node",
                                                   "kube-router", "kubelite",     "k3s",
                                                   "k3s-server",  "k3s-agent",    "hyperkube"};
constexpr std::array<Expected, 3> kPorts{{
    {10250, "kubelet", kKubelets, {400, 400}},  // it speaks TLS, and Go's server says so
    {10248, "kubelet", kKubelets, {200, 500}},
    {10256, "kube-proxy", kProxies, {200, 503}},
}};

void judge_taken(const PortFacts& facts, const Expected& expected, Judgement& judgement) {
  const std::string port = std::to_string(facts.port);
  const bool ours =
      std::ranges::find(expected.processes, std::string_view(facts.process)) != expected.processes.end();
  if (!facts.process.empty() && !ours) {
    judgement.fail("port " + port + " of the " + expected.what + " is held by " + facts.process,
                   "stop that program or give it another port: ss -ltnp 'sport = :" + port + "'");
    return;
  }
  if (facts.status == 0) {
    judgement.fail("port " + port + " is held by " + (ours ? facts.process + ", which" : "a program that") +
                       " does not answer",
                   "see what it is: ss -ltnp 'sport = :" + port + "'; a kubelet: journalctl -u kubelet");
    return;
  }
  const bool as_expected = std::ranges::find(expected.statuses, facts.status) != expected.statuses.end();
  if (!ours && !as_expected) {
    judgement.fail("port " + port + " is held by a program that is no " + expected.what,
                   "stop that program or give it another port: ss -ltnp 'sport = :" + port + "'");
    return;
  }
  judgement.note(port + " " + (ours ? facts.process : expected.what));
}

}  // namespace

std::vector<std::uint16_t> node_ports() {
  std::vector<std::uint16_t> ports;
  ports.reserve(kPorts.size());
  for (const Expected& expected : kPorts) ports.push_back(expected.port);
  return ports;
}

Finding judge_ports(const std::vector<PortFacts>& facts) {
  Judgement judgement("ports");
  if (facts.empty())
    judgement.warn("which ports are taken cannot be seen", "look for 10250, 10248 and 10256: ss -ltnp");
  for (const PortFacts& port : facts) {
    if (!port.taken) {
      judgement.note(std::to_string(port.port) + " free");
      continue;
    }
    const auto* const expected = std::ranges::find(kPorts, port.port, &Expected::port);
    if (expected != kPorts.end()) judge_taken(port, *expected, judgement);
  }
  return judgement.finding();
}

}  // namespace gpupool::checks
