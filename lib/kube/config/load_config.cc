// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/read_file.h"
#include "kube/config/environment.h"
#include "kube/config/kubeconfig.h"
#include "kube/config/kubeconfig_resolve.h"
#include "kube/config/rest_config.h"

namespace gpupool::kube {
namespace {

constexpr const char* kServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";

std::vector<std::string> split_paths(const std::string& paths) {
  std::vector<std::string> all;
  std::size_t begin = 0;
  while (begin <= paths.size()) {
    const auto end = std::min(paths.find(':', begin), paths.size());
    if (end > begin) all.push_back(paths.substr(begin, end - begin));
    begin = end + 1;
  }
  return all;
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

bool is_empty(const Kubeconfig& config) {
  return config.current_context.empty() && config.clusters.empty() && config.users.empty() &&
         config.contexts.empty();
}

}  // namespace

base::Result<RestConfig> kubeconfig_config(const std::string& paths, const std::string& context,
                                           base::Clock& clock) {
  const std::vector<std::string> files = split_paths(paths);
  Kubeconfig merged;
  for (const std::string& file : files) {
    // As with kubectl, files of a list may be missing.
    if (files.size() > 1 && !exists(file)) continue;
    const auto text = base::read_file(file);
    if (!text) return base::in_context(text.error(), "kubeconfig");
    auto config = parse_kubeconfig(*text, file);
    if (!config) return base::in_context(config.error(), "kubeconfig");
    merge_kubeconfig(merged, std::move(*config));
  }
  if (is_empty(merged)) {
    return base::fail(base::ErrorCode::kInvalidArgument, "kubeconfig " + paths + ": is empty or missing");
  }
  auto resolved = resolve_kubeconfig(merged, paths, context, clock);
  if (!resolved) return base::in_context(resolved.error(), "kubeconfig");
  return resolved;
}

base::Result<RestConfig> load_config(const ConfigSource& source, base::Clock& clock) {
  if (!source.kubeconfig.empty()) {
    auto config = kubeconfig_config(source.kubeconfig, source.context, clock);
    if (!config) return base::in_context(config.error(), "--kubeconfig");
    return config;
  }
  if (const std::string paths = environment("KUBECONFIG"); !paths.empty()) {
    auto config = kubeconfig_config(paths, source.context, clock);
    if (!config) return base::in_context(config.error(), "$KUBECONFIG");
    return config;
  }
  // --context makes sense only with a kubeconfig.
  if (source.context.empty() && !environment("KUBERNETES_SERVICE_HOST").empty()) {
    return in_cluster_config(kServiceAccount, clock);
  }
  const std::string home = environment("HOME");
  const std::string fallback = home + "/.kube/config";
  if (!home.empty() && exists(fallback)) return kubeconfig_config(fallback, source.context, clock);
  return base::fail(base::ErrorCode::kInvalidArgument,
                    "no way to an API server: --kubeconfig was not given, $KUBECONFIG is not set, "
                    "KUBERNETES_SERVICE_HOST is not set (not in a pod), and there is no ~/.kube/config");
}

}  // namespace gpupool::kube
