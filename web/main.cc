// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/stop_signals.h"
#include "kube/config/environment.h"
#include "kube/config/tls_files.h"
#include "net/curl_transport.h"
#include "net/http_server.h"
#include "net/server_certificate.h"
#include "options.h"
#include "server/token_visitors.h"
#include "server/web_server.h"

namespace gpupool {
namespace {

constexpr std::chrono::seconds kLookAtCertificate{30};

base::Result<std::string> api_server_url(const Options& options) {
  if (!options.api_server.empty()) return options.api_server;
  const std::string host = kube::environment("KUBERNETES_SERVICE_HOST");
  const std::string port = kube::environment("KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty())
    return base::fail(base::ErrorCode::kInvalidArgument, "not in a pod: --api-server is needed");
  return "https://" + (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
}

// A server by TLS with a certificate authority of its own; the file is read again when it changes.
base::Result<net::Endpoint> endpoint(std::string url, const char* flag, const std::string& ca) {
  const auto files = std::make_shared<kube::TlsFiles>(kube::KubeData{flag, {}, ca}, kube::KubeData{},
                                                      kube::KubeData{}, net::TlsMaterial{});
  if (const auto material = files->material(); !material)
    return tl::unexpected<base::Error>(material.error());
  return net::Endpoint{.url = std::move(url), .tls = [files] { return files->material(); }};
}

base::Result<net::Endpoint> api_endpoint(const Options& options) {
  auto url = api_server_url(options);
  if (!url) return tl::unexpected<base::Error>(url.error());
  return endpoint(std::move(*url), "--api-ca", options.api_ca);
}

// To a program of gpupool that is told who the visitors are. flag: that names its URL, with "-ca" that of its
// certificate. Null: there is none.
base::Result<std::unique_ptr<net::CurlTransport>> transport_to(const std::string& url,
                                                               const std::string& flag,
                                                               const std::string& ca) {
  if (url.empty()) return nullptr;
  if (!url.starts_with("https://"))
    return base::fail(base::ErrorCode::kInvalidArgument, flag + ": visitors' tokens are sent by https only");
  auto reached = endpoint(url, (flag + "-ca").c_str(), ca);
  if (!reached) return tl::unexpected<base::Error>(reached.error());
  return std::make_unique<net::CurlTransport>(std::move(*reached), "gpupool-web/" GPUPOOL_VERSION);
}

web::WebOptions web_options(const Options& options, std::string tls_pem) {
  web::WebOptions made{.bind = options.bind_address,
                       .hosts = options.hosts,
                       .tabs = options.tabs,
                       .tls_pem = std::move(tls_pem),
                       .ns = options.ns,
                       .version = GPUPOOL_VERSION};
  for (std::string& host : made.hosts) std::ranges::transform(host, host.begin(), ::tolower);
  return made;
}

// Serves until stop is requested. A new certificate is served by a new server; tabs connect to it by
// themselves.
base::Result<void> serve(const Options& options, const base::Log& log, const std::stop_token& stop) {
  base::SystemClock clock;
  base::Metrics metrics;
  auto server_of_api = api_endpoint(options);
  if (!server_of_api) return tl::unexpected<base::Error>(server_of_api.error());
  const net::CurlGlobal curl;
  net::CurlTransport api(std::move(*server_of_api), "gpupool-web/" GPUPOOL_VERSION);
  const auto keeper = transport_to(options.keeper, "--keeper", options.keeper_ca);
  if (!keeper) return tl::unexpected<base::Error>(keeper.error());
  const auto ledger = transport_to(options.ledger, "--ledger", options.ledger_ca);
  if (!ledger) return tl::unexpected<base::Error>(ledger.error());
  web::TokenVisitors visitors(options.mode, {api, keeper->get(), ledger->get()}, clock, metrics);
  const auto health = net::HttpServer::start(
      options.health_bind_address,
      {{"/healthz", [](const net::ServerRequest&) { return net::ServerResponse{.body = "ok\n"}; }},
       {"/metrics", [&metrics](const net::ServerRequest&) {
          return net::ServerResponse{.content_type = "text/plain; version=0.0.4", .body = metrics.expose()};
        }}});
  if (!health) return tl::unexpected<base::Error>(health.error());
  std::string served;
  std::unique_ptr<web::WebServer> server;
  do {
    auto pem = net::read_server_certificate(options.tls_directory);
    if (!pem && !server) return tl::unexpected<base::Error>(pem.error());
    if (!pem || *pem == served) continue;
    server.reset();
    auto started = web::WebServer::start(web_options(options, *pem), visitors, clock);
    if (!started) return tl::unexpected<base::Error>(started.error());
    server = std::move(*started);
    served = std::move(*pem);
    log.info("serving the page", {{"port", server->port()}, {"mode", options.mode}});
  } while (clock.sleep_for(kLookAtCertificate, stop));
  return {};
}

}  // namespace
}  // namespace gpupool

int main(int argc, char** argv) {
  using namespace gpupool;
  std::stop_source stop;
  const base::StopSignals signals(stop);
  const auto read = read_options(argc, argv);
  if (const int* code = std::get_if<int>(&read)) return *code;
  const auto& options = std::get<Options>(read);
  base::LogLevel level{};
  if (!base::parse_log_level(options.log_level, level)) {
    std::fprintf(stderr, "gpupool-web: --log-level is debug, info, warning or error\n");
    return 2;
  }
  const base::Log log(level);
  const auto done = serve(options, log, stop.get_token());
  if (done) return 0;
  log.error("cannot serve", {{"error", done.error().message}});
  return 1;
}
