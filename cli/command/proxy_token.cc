// SPDX-License-Identifier: Apache-2.0
#include "command/proxy_token.h"

#include <string_view>
#include <utility>

#include "kube/request_path.h"

namespace gpupool::command {
namespace {

constexpr std::string_view kProxied = "/proxy/v1/";

}  // namespace

std::string service_proxy_path(const std::string& ns, const std::string& service, int port) {
  return "/api/v1/namespaces/" + kube::percent_encode(ns) +
         "/services/https:" + kube::percent_encode(service) + ":" + std::to_string(port) + "/proxy";
}

base::Result<net::HttpRequest> ProxyTokenTransport::with_token(net::HttpRequest request,
                                                               const std::stop_token& stop) {
  if (!request.target.starts_with("/api/v1/namespaces/") ||
      request.target.find(kProxied) == std::string::npos)
    return request;
  auto token = tokens_ == nullptr ? base::Result<std::string>(std::string()) : tokens_->token(stop);
  if (!token) return tl::unexpected<base::Error>(token.error());
  if (token->empty())
    return tl::unexpected<base::Error>(
        {base::ErrorCode::kUnauthorized,
         "gpupool's own servers ask for a token, and this kubeconfig has none, "
         "but perhaps a certificate; use one with "
         "a token, as of `kubectl create token SERVICEACCOUNT`"});
  request.headers.push_back({"X-Gpupool-Token", std::move(*token)});
  return request;
}

base::Result<net::HttpResponse> ProxyTokenTransport::send(const net::HttpRequest& request,
                                                          std::stop_token stop) {
  const auto sent = with_token(request, stop);
  if (!sent) return tl::unexpected<base::Error>(sent.error());
  return inner_.send(*sent, std::move(stop));
}

base::Result<net::HttpResponse> ProxyTokenTransport::stream(const net::HttpRequest& request,
                                                            const net::BodySink& sink, std::stop_token stop) {
  const auto sent = with_token(request, stop);
  if (!sent) return tl::unexpected<base::Error>(sent.error());
  return inner_.stream(*sent, sink, std::move(stop));
}

}  // namespace gpupool::command
