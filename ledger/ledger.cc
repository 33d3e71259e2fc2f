// SPDX-License-Identifier: Apache-2.0
#include "ledger.h"

#include <atomic>
#include <thread>
#include <utility>

#include "api/v1alpha1/gpu_job.h"
#include "base/metrics.h"
#include "books/books.h"
#include "kube/client.h"
#include "kube/config/rest_config.h"
#include "net/curl_transport.h"
#include "net/http_server.h"
#include "runtime/watch/reflector.h"
#include "serve/job_feed.h"

namespace gpupool {
namespace {

constexpr std::chrono::seconds kRetry{1};
constexpr char kAgent[] = "gpupool-ledger/" GPUPOOL_VERSION;

void tell_state(base::Metrics& metrics, ledger::Books& books, bool behind) {
  const auto tell = [&](const char* name, const char* help, double value) {
    metrics.gauge(name, help).set(value);
  };
  tell("gpupool_ledger_behind", "1: what jobs have held cannot be entered.", behind ? 1 : 0);
  if (const auto head = books.head())
    tell("gpupool_ledger_head", "The number of the last entry.", static_cast<double>(head->seq));
  if (const auto disputed = books.disputed())
    tell("gpupool_ledger_disputed", "Entries that move no account, because they are wrong.",
         static_cast<double>(*disputed));
}

}  // namespace

base::Result<void> serve_ledger(const Options& options, base::Clock& clock, const base::Log& log,
                                const std::stop_token& stop) {
  auto config = kube::load_config({options.kubeconfig, ""}, clock);
  if (!config) return tl::unexpected<base::Error>(config.error());
  auto books = ledger::Books::open(options.database, clock);
  if (!books) return tl::unexpected<base::Error>(books.error());
  // The gauge has a connection of its own: the feed's is used by the reflector's thread.
  auto to_read = ledger::Books::open_to_read(options.database, clock);
  if (!to_read) return tl::unexpected<base::Error>(to_read.error());
  const net::CurlGlobal curl;
  base::Metrics metrics;
  net::CurlTransport api(config->endpoint, kAgent);
  kube::Client client(api, config->tokens.get(), clock, metrics,
                      {config->impersonate_user, config->impersonate_groups});
  ledger::JobFeed feed(**books, metrics, log);
  runtime::Reflector reflector(client, api::GpuJob::kType, {}, feed, clock, metrics, log);
  std::atomic<bool> behind = false;
  const auto ready = [&](const net::ServerRequest&) {
    if (!reflector.synced())
      return net::ServerResponse{.status = 503, .body = "GpuJobs were not listed yet\n"};
    if (behind) return net::ServerResponse{.status = 503, .body = "the books cannot be written\n"};
    return net::ServerResponse{.body = "ok\n"};
  };
  const auto server = net::HttpServer::start(
      options.health_bind_address,
      {{"/healthz", [](const net::ServerRequest&) { return net::ServerResponse{.body = "ok\n"}; }},
       {"/readyz", ready},
       {"/metrics", [&](const net::ServerRequest&) {
          return net::ServerResponse{.content_type = "text/plain; version=0.0.4", .body = metrics.expose()};
        }}});
  if (!server) return tl::unexpected<base::Error>(server.error());
  const std::jthread watching([&](const std::stop_token& end) { reflector.run(end); });
  log.info("keeping the books", {{"database", options.database}, {"healthPort", (*server)->port()}});
  do {
    behind = !feed.retry().empty();
    tell_state(metrics, **to_read, behind);
  } while (clock.sleep_for(kRetry, stop));
  return {};
}

}  // namespace gpupool
