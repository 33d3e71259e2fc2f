// SPDX-License-Identifier: Apache-2.0
#include "checks/kernel.h"

#include <algorithm>
#include <string_view>

#include "base/join.h"

namespace gpupool::checks {
namespace {

constexpr std::size_t kMaxName = 253;
constexpr std::size_t kMaxLabel = 63;

void judge_modules(const KernelFacts& facts, Judgement& judgement) {
  const std::string kernel = "kernel " + facts.release;
  if (facts.overlay == KernelModule::kMissing) {
    judgement.fail(
        kernel + " has no overlay file system, which containers' images need",
        "boot a kernel with CONFIG_OVERLAY_FS; a container needs the host's /lib/modules to see it");
  } else {
    judgement.note("overlay");
  }
  constexpr char kLoad[] = "modprobe br_netfilter; echo br_netfilter > /etc/modules-load.d/gpupool.conf";
  if (facts.br_netfilter == KernelModule::kMissing) {
    judgement.warn(kernel + " has no br_netfilter",
                   "needed where the cluster's network is a bridge (flannel, bridge): boot a kernel with "
                   "CONFIG_BRIDGE_NETFILTER");
  } else if (facts.br_netfilter == KernelModule::kLoadable) {
    judgement.warn("br_netfilter is not loaded", kLoad);
  } else if (facts.bridge_calls_iptables == false) {
    judgement.warn(
        "net.bridge.bridge-nf-call-iptables is 0",
        "sysctl -w net.bridge.bridge-nf-call-iptables=1; and the same into /etc/sysctl.d/gpupool.conf");
  } else {
    judgement.note("br_netfilter");
  }
}

void judge_settings(const KernelFacts& facts, Judgement& judgement) {
  if (facts.ip_forward == true) {
    judgement.note("ip_forward");
  } else {
    judgement.fail(
        facts.ip_forward ? "net.ipv4.ip_forward is 0" : "net.ipv4.ip_forward cannot be read",
        "sysctl -w net.ipv4.ip_forward=1; echo net.ipv4.ip_forward=1 > /etc/sysctl.d/gpupool.conf");
  }
  if (facts.swaps.empty()) {
    judgement.note("no swap");
  } else {
    judgement.warn(
        "swap is on (" + base::join(facts.swaps, " ") + "), with which a kubelet does not start by default",
        "swapoff -a, and take swap out of /etc/fstab; or set failSwapOn: false in the kubelet's "
        "configuration");
  }
}

bool is_small(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool is_dns_label(std::string_view label) {
  return !label.empty() && is_small(label.front()) && is_small(label.back()) &&
         std::ranges::all_of(label, [](char c) { return is_small(c) || c == '-'; });
}

bool is_dns_subdomain(std::string_view name) {
  std::size_t begin = 0;
  while (begin <= name.size()) {
    const auto end = std::min(name.find('.', begin), name.size());
    if (!is_dns_label(name.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace

std::string node_name_problem(const std::string& name) {
  if (name.empty()) return "is empty";
  if (name.size() > kMaxName) return "is longer than " + std::to_string(kMaxName) + " characters";
  if (!is_dns_subdomain(name)) return "is no DNS name: small letters, digits, '-' and '.'";
  // Every machine has this name, so two nodes would be one.
  if (name == "localhost" || name.starts_with("localhost.")) return "is every machine's";
  if (name.size() > kMaxLabel) {
    return "is longer than the " + std::to_string(kMaxLabel) +
           " characters of the label kubernetes.io/hostname";
  }
  return {};
}

Finding judge_kernel(const KernelFacts& facts) {
  Judgement judgement("kernel");
  judgement.note(facts.release);
  judge_modules(facts, judgement);
  judge_settings(facts, judgement);
  if (const auto problem = node_name_problem(facts.node_name); !problem.empty()) {
    judgement.fail("the host name \"" + facts.node_name + "\" " + problem, "hostnamectl set-hostname NAME");
  } else {
    judgement.note("host name " + facts.node_name);
  }
  return judgement.finding();
}

}  // namespace gpupool::checks
