// SPDX-License-Identifier: Apache-2.0
#include "keeper.h"

#include <utility>

#include "base/key_folder.h"
#include "ingest/writer_server.h"
#include "net/http_server.h"

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
      for_readers_(net::without_identity(config_.endpoint), kAgent),
      own_(api_, config_.tokens.get(), clock, metrics_, {}),
      access_(for_readers_, own_, std::chrono::seconds(options.access_cache_seconds), clock, metrics_),
      marks_(own_, *attempts_, clock, log),
      readers_(*attempts_, access_, clock),
      server_(
          {options.readers_bind_address, options.tls_directory, static_cast<unsigned int>(options.readers)},
          [this](const net::ServerRequest& request) { return readers_.answer(request); }, log) {}

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
    if (auto served = server_.serve(); !served) return served;
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
