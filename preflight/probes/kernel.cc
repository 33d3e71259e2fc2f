// SPDX-License-Identifier: Apache-2.0
#include "probes/kernel.h"

#include <algorithm>
#include <sstream>

namespace gpupool::probes {
namespace {

checks::KernelModule module_state(const HostRoot& root, const std::string& name, const std::string& release) {
  if (root.exists("/sys/module/" + name)) return checks::KernelModule::kLoaded;
  const std::string modules = "/lib/modules/" + release + "/modules.";
  const std::string file = "/" + name + ".ko";
  if (root.read(modules + "builtin").value_or("").find(file) != std::string::npos)
    return checks::KernelModule::kLoaded;
  const bool loadable = root.read(modules + "dep").value_or("").find(file) != std::string::npos;
  return loadable ? checks::KernelModule::kLoadable : checks::KernelModule::kMissing;
}

bool knows_file_system(const HostRoot& root, const std::string& name) {
  std::istringstream words(root.read("/proc/filesystems").value_or(""));
  for (std::string word; words >> word;) {
    if (word == name) return true;
  }
  return false;
}

std::optional<bool> setting(const HostRoot& root, const std::string& path) {
  const std::string value = root.line("/proc/sys/" + path);
  return value.empty() ? std::nullopt : std::optional(value != "0");
}

std::vector<std::string> swaps(const HostRoot& root) {
  std::vector<std::string> names;
  std::istringstream lines(root.read("/proc/swaps").value_or(""));
  std::string line;
  std::getline(lines, line);  // the heading
  while (std::getline(lines, line)) names.push_back(line.substr(0, line.find_first_of(" \t")));
  return names;
}

}  // namespace

std::string host_name(const HostRoot& root) {
  std::string name = root.line("/proc/sys/kernel/hostname");
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return name;
}

checks::KernelFacts kernel(const HostRoot& root, const std::string& node_name) {
  checks::KernelFacts facts;
  facts.release = root.line("/proc/sys/kernel/osrelease");
  facts.overlay = knows_file_system(root, "overlay") ? checks::KernelModule::kLoaded
                                                     : module_state(root, "overlay", facts.release);
  facts.bridge_calls_iptables = setting(root, "net/bridge/bridge-nf-call-iptables");
  facts.br_netfilter = facts.bridge_calls_iptables ? checks::KernelModule::kLoaded
                                                   : module_state(root, "br_netfilter", facts.release);
  facts.ip_forward = setting(root, "net/ipv4/ip_forward");
  facts.swaps = swaps(root);
  facts.node_name = node_name.empty() ? host_name(root) : node_name;
  return facts;
}

}  // namespace gpupool::probes
