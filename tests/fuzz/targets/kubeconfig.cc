// SPDX-License-Identifier: Apache-2.0
#include "kube/config/kubeconfig.h"

#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace kube = gpupool::kube;

void fuzz_kubeconfig(std::string_view input) {
  const auto config = kube::parse_kubeconfig(input, "/home/me/.kube/config");
  if (!config) {
    require(config.error().message.starts_with("/home/me/.kube/config"), "an error names the file");
    return;
  }
  auto merged = *config;
  kube::merge_kubeconfig(merged, *config);
  require(merged.clusters.size() == config->clusters.size() && merged.users.size() == config->users.size(),
          "nothing is there twice");
  for (const auto& [name, cluster] : config->clusters)
    require(!name.empty() && !cluster.where.empty(), "names");
  for (const auto& [name, user] : config->users) {
    if (user.exec)
      require(user.exec->command.find('/') == std::string::npos || user.exec->command[0] == '/',
              "a command with a slash is a whole path");
  }
}
