// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checks/finding.h"

namespace gpupool::checks {

enum class KernelModule { kMissing, kLoadable, kLoaded };  // kLoaded: or built in

struct KernelFacts {
  std::string release;  // "6.1.0-18-amd64"
  KernelModule overlay = KernelModule::kMissing;
  KernelModule br_netfilter = KernelModule::kMissing;
  std::optional<bool> bridge_calls_iptables;  // absent: br_netfilter is not loaded
  std::optional<bool> ip_forward;             // absent: cannot be read
  std::vector<std::string> swaps;             // devices and files that are switched on
  std::string node_name;                      // as the kubelet would register it
};

Finding judge_kernel(const KernelFacts& facts);

// Empty, or why Kubernetes refuses a Node of this name: a DNS subdomain (RFC 1123). Pure.
std::string node_name_problem(const std::string& name);

}  // namespace gpupool::checks
