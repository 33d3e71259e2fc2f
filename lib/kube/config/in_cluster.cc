// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "base/read_file.h"
#include "kube/config/environment.h"
#include "kube/config/file_token.h"
#include "kube/config/resolve_path.h"
#include "kube/config/rest_config.h"
#include "kube/config/server_url.h"
#include "kube/config/tls_files.h"

namespace gpupool::kube {

base::Result<RestConfig> in_cluster_config(const std::string& directory, base::Clock& clock) {
  const std::string host = environment("KUBERNETES_SERVICE_HOST");
  const std::string port = environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    return base::fail(base::ErrorCode::kInvalidArgument,
                      "not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  }
  const bool is_ipv6 = host.find(':') != std::string::npos && host.front() != '[';
  auto url = check_server_url("https://" + (is_ipv6 ? "[" + host + "]" : host) + ":" + port,
                              "KUBERNETES_SERVICE_HOST");
  if (!url) return tl::unexpected<base::Error>(url.error());

  const std::string ca_path = resolve_path(directory, "ca.crt");
  const auto files = std::make_shared<TlsFiles>(KubeData{"in-cluster CA", {}, ca_path}, KubeData{},
                                                KubeData{}, net::TlsMaterial{});
  if (const auto material = files->material(); !material)
    return tl::unexpected<base::Error>(material.error());
  auto token = FileToken::open(resolve_path(directory, "token"), clock);
  if (!token) return base::in_context(token.error(), "in-cluster token");

  RestConfig config;
  config.endpoint.url = std::move(*url);
  config.endpoint.tls = [files] { return files->material(); };
  config.tokens = std::move(*token);
  if (const auto ns = base::read_file(resolve_path(directory, "namespace"))) config.ns = base::trimmed(*ns);
  return config;
}

}  // namespace gpupool::kube
