// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kube/token_source.h"
#include "net/transport.h"

namespace gpupool::command {

// The path by which the API server passes requests on to a Service of a cluster, by TLS.
std::string service_proxy_path(const std::string& ns, const std::string& service, int port);

// Adds the caller's token, as X-Gpupool-Token, to requests that the API server passes on to a program of
// gpupool: it removes the Authorization header from those. Thread-safe.
class ProxyTokenTransport final : public net::Transport {
 public:
  // tokens: null if the caller has none. REQUIRES: both outlive this.
  ProxyTokenTransport(net::Transport& inner, kube::TokenSource* tokens) : inner_(inner), tokens_(tokens) {}

  base::Result<net::HttpResponse> send(const net::HttpRequest& request, std::stop_token stop) override;
  base::Result<net::HttpResponse> stream(const net::HttpRequest& request, const net::BodySink& sink,
                                         std::stop_token stop) override;

 private:
  base::Result<net::HttpRequest> with_token(net::HttpRequest request, const std::stop_token& stop);

  net::Transport& inner_;
  kube::TokenSource* tokens_;
};

}  // namespace gpupool::command
