// SPDX-License-Identifier: Apache-2.0
#include "kube/config/server_url.h"

#include "net/base_url.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;

void fuzz_server_url(std::string_view input) {
  const std::string url(input);
  const auto proxy = gpupool::kube::check_proxy_url(url, "FILE: proxy-url");
  if (!proxy) {
    require(proxy.error().message.starts_with("FILE: proxy-url"), "an error names the place");
    const bool secret = url.size() > 3 && url.find('@') != std::string::npos;
    if (secret) require(proxy.error().message.find(url) == std::string::npos, "a password is not shown");
  }
  const auto parts = gpupool::net::parse_base_url(url);
  if (!parts) gpupool::fuzz::require_explained(parts.error());
  const auto server = gpupool::kube::check_server_url(url, "FILE: server");
  if (!server) {
    require(server.error().message.starts_with("FILE: server"), "an error names the place");
    return;
  }
  require(!server->ends_with('/'), "no slash at the end");
  const auto again = gpupool::kube::check_server_url(*server, "");
  require(again && *again == *server, "twice is as once");
  const auto used = gpupool::net::parse_base_url(*server);
  require(used.has_value(), "what the kubeconfig may name, the client can use: " + *server);
  require(!used->host.empty() && !used->port.empty(), "it has a host and a port");
}
