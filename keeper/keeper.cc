// SPDX-License-Identifier: Apache-2.0
#include "keeper.h"

#include <utility>

#include "base/key_folder.h"
#include "ingest/writer_server.h"
#include "net/server_certificate.h"

namespace gpupool {
namespace {

constexpr std::chrono::seconds kLookAtFiles{10};
constexpr int kLooksUntilCleanUp = 60;
constexpr char kAgent[] = "gpupool-keeper/" GPUPOOL_VERSION;

}  // namespace

Keeper::Keeper(const Options& options, kube::RestConfig config, std::unique_ptr<keeper::Attempts> attempts,
               base::Clock& clock, const base::Log& log)
    : options_(options),
      clock_(clock),
      log_(log),
      config_(std::move(config)),
      attempts_(std::move(attempts)),
      api_(config_.endpoint, kAgent),
      for_readers_(without_identity()),
      own_(api_, config_.tokens.get(), clock, metrics_, {}),
      access_(*for_readers_, own_, std::chrono::seconds(options.access_cache_seconds), clock, metrics_),
      marks_(own_, *attempts_, clock, log),
      readers_(*attempts_, access_, clock) {}

base::Result<void> Keeper::run(const std::stop_token& stop) {
  auto keys = base::read_keys(options_.keys);
  if (!keys) return tl::unexpected<base::Error>(keys.error());
  auto writers = keeper::WriterServer::start(
      options_.ingest, *attempts_, *keys, [this](const keeper::AttemptId& id) { marks_.mark(id); }, clock_,
      metrics_, log_);
  if (!writers) return tl::unexpected<base::Error>(writers.error());
  const auto ok = [](const net::ServerRequest&) { return net::ServerResponse{.body = "ok\n"}; };
  const auto numbers = [this](const net::ServerRequest&) {
    return net::ServerResponse{.content_type = "text/plain; version=0.0.4", .body = metrics_.expose()};
  };
  const auto health = net::HttpServer::start(options_.health_bind_address,
                                             {{"/healthz", ok}, {"/readyz", ok}, {"/metrics", numbers}});
  if (!health) return tl::unexpected<base::Error>(health.error());
  log_.info(
      "storing logs",
      {{"port", (*writers)->port()}, {"healthPort", (*health)->port()}, {"attempts", attempts_->count()}});
  int looks = 0;
  do {
    if (auto served = serve_readers(); !served) return served;
    if (auto newest = base::read_keys(options_.keys)) {
      (*writers)->set_keys(std::move(*newest));
    } else {
      log_.warning("the keys cannot be read; the last ones are used", {{"error", newest.error().message}});
    }
    if (looks++ % kLooksUntilCleanUp == 0) attempts_->remove_old();
    tell_sizes();
  } while (clock_.sleep_for(kLookAtFiles, stop));
  return {};
}

std::unique_ptr<net::CurlTransport> Keeper::without_identity() const {
  net::Endpoint endpoint = config_.endpoint;
  endpoint.tls = [tls = config_.endpoint.tls]() -> base::Result<net::TlsMaterial> {
    auto material = tls ? tls() : base::Result<net::TlsMaterial>(net::TlsMaterial{});
    if (material) material->client_cert_pem = material->client_key_pem = {};
    return material;
  };
  return std::make_unique<net::CurlTransport>(std::move(endpoint), kAgent);
}

// A new certificate is served by a new server.
base::Result<void> Keeper::serve_readers() {
  auto pem = net::read_server_certificate(options_.tls_directory);
  if (!pem && !server_) return tl::unexpected<base::Error>(pem.error());
  if (!pem || *pem == served_) return {};
  server_.reset();
  auto started = net::HttpServer::start(
      options_.readers_bind_address,
      {{"/", [this](const net::ServerRequest& request) { return readers_.answer(request); }}},
      {.streams = true, .connections = static_cast<unsigned int>(options_.readers), .tls_pem = *pem});
  if (!started) return tl::unexpected<base::Error>(started.error());
  server_ = std::move(*started);
  served_ = std::move(*pem);
  log_.info("serving readers", {{"port", server_->port()}});
  return {};
}

void Keeper::tell_sizes() {
  const auto tell = [this](const char* name, const char* help, double value) {
    metrics_.gauge(name, help).set(value);
  };
  tell("gpupool_keeper_disk_bytes", "Bytes of all logs on the disk.",
       static_cast<double>(attempts_->total_bytes()));
  tell("gpupool_keeper_disk_limit_bytes", "Bytes that all logs may take.",
       static_cast<double>(options_.limits.total_bytes));
  tell("gpupool_keeper_attempts", "Attempts of which logs are stored.",
       static_cast<double>(attempts_->count()));
  tell("gpupool_keeper_removed_attempts", "Attempts whose logs were removed since the start.",
       static_cast<double>(attempts_->removed()));
}

}  // namespace gpupool
