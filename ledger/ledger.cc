// SPDX-License-Identifier: Apache-2.0
#include "ledger.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/v1alpha1/gpu_account.h"
#include "api/v1alpha1/gpu_bill_record.h"
#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_node.h"
#include "base/metrics.h"
#include "base/unix_seconds.h"
#include "books/books.h"
#include "books/machine_times.h"
#include "kube/client.h"
#include "kube/config/rest_config.h"
#include "net/curl_transport.h"
#include "net/http_server.h"
#include "reader_server/reader_access.h"
#include "reader_server/reader_server.h"
#include "report_api/report_api.h"
#include "runtime/cache/informer.h"
#include "runtime/watch/reflector.h"
#include "serve/intake.h"
#include "serve/job_feed.h"
#include "serve/machine_feed.h"
#include "serve/publication.h"
#include "serve/record_feed.h"

namespace gpupool {
namespace {

constexpr std::chrono::seconds kRetry{1};
constexpr std::chrono::seconds kMeasured{5};  // how busy machines were is stored so often, if it was reported
constexpr std::chrono::seconds kLookAtCertificate{10};
constexpr char kAgent[] = "gpupool-ledger/" GPUPOOL_VERSION;

// Read by the server's threads.
struct State {
  std::atomic<bool> behind = false;
  std::atomic<bool> diverged = false;
};

void tell_state(base::Metrics& metrics, ledger::Books& books, const State& state) {
  const auto tell = [&](const char* name, const char* help, double value) {
    metrics.gauge(name, help).set(value);
  };
  tell("gpupool_ledger_behind", "1: what jobs have held cannot be entered.",
       state.behind || state.diverged ? 1 : 0);
  tell("gpupool_ledger_diverged", "1: the books are not those that were published.", state.diverged ? 1 : 0);
  if (const auto head = books.head())
    tell("gpupool_ledger_head", "The number of the last entry.", static_cast<double>(head->seq));
  if (const auto disputed = books.disputed())
    tell("gpupool_ledger_disputed", "Entries that move no account, because they are wrong.",
         static_cast<double>(*disputed));
}

// No money depends on it: what fails is only logged, and is added with the next report.
void store_times(ledger::MachineFeed& machines, ledger::MachineTimes& times, const base::Clock& clock,
                 const base::Log& log) {
  const auto readings = machines.take();
  if (readings.empty()) return;
  const auto added = times.add(readings, base::unix_seconds(clock.wall()));
  if (added) return;
  log.warning("cannot store how busy machines were; trying again", {{"error", added.error().message}});
  machines.give_back(readings);
}

kube::ClientOptions client_options(const kube::RestConfig& config) {
  kube::ClientOptions options;
  options.impersonate_user = config.impersonate_user;
  options.impersonate_groups = config.impersonate_groups;
  return options;
}

// problem: why it is not ready; empty: it is. Called by the server's threads.
base::Result<std::unique_ptr<net::HttpServer>> serve_health(const std::string& bind, base::Metrics& metrics,
                                                            std::function<std::string()> problem) {
  const auto ready = [problem = std::move(problem)](const net::ServerRequest&) {
    const auto told = problem();
    return told.empty() ? net::ServerResponse{.body = "ok\n"}
                        : net::ServerResponse{.status = 503, .body = told + "\n"};
  };
  return net::HttpServer::start(
      bind, {{"/healthz", [](const net::ServerRequest&) { return net::ServerResponse{.body = "ok\n"}; }},
             {"/readyz", ready},
             {"/metrics", [&metrics](const net::ServerRequest&) {
                return net::ServerResponse{.content_type = "text/plain; version=0.0.4",
                                           .body = metrics.expose()};
              }}});
}

// Serves people who read bills and payouts, if that is wanted. A failure is logged and tried again; entries
// do not wait for it.
class Readers {
 public:
  Readers(const Options& options, const net::Endpoint& api, kube::Client& own, base::Clock& clock,
          base::Metrics& metrics, const base::Log& log)
      : wanted_(!options.readers_bind_address.empty()),
        clock_(clock),
        log_(log),
        transport_(net::without_identity(api), kAgent),
        access_(transport_, own, std::chrono::seconds(options.access_cache_seconds), clock, metrics),
        reports_(options.database, access_, own, clock),
        server_(
            {options.readers_bind_address, options.tls_directory},
            [this](const net::ServerRequest& request) { return reports_.answer(request); }, log) {}

  // Call this each second.
  void serve() {
    if (!wanted_ || (looked_ && clock_.now() - *looked_ < kLookAtCertificate)) return;
    looked_ = clock_.now();
    if (const auto served = server_.serve(); !served)
      log_.warning("cannot serve readers; trying again", {{"error", served.error().message}});
  }

 private:
  const bool wanted_;
  const base::Clock& clock_;
  const base::Log& log_;
  net::CurlTransport transport_;
  readers::ReaderAccess access_;
  ledger::ReportApi reports_;
  readers::ReaderServer server_;
  std::optional<base::SteadyTime> looked_;
};

// Enters nothing into books that are not those that the cluster knows: a person has to look first, and adopt
// them.
void await_agreement(ledger::Publication& publication, State& state, const std::function<void()>& tell,
                     base::Clock& clock, const base::Log& log, const std::stop_token& stop) {
  std::string told;
  do {
    const auto agrees = publication.agrees(stop);
    state.diverged = agrees && !*agrees;
    tell();
    if (agrees && *agrees) return;
    const auto problem =
        agrees ? std::string(
                     "the published head is not in these books: they are older or other ones. If they "
                     "are to be used, run gpupool-ledger adopt")
               : agrees.error().message;
    if (problem != told) log.error("nothing is entered yet", {{"error", problem}});
    told = problem;
  } while (clock.sleep_for(kRetry, stop));
}

}  // namespace

base::Result<void> serve_ledger(const Options& options, base::Clock& clock, const base::Log& log,
                                const std::stop_token& stop) {
  auto config = kube::load_config({options.kubeconfig, ""}, clock);
  if (!config) return tl::unexpected<base::Error>(config.error());
  auto books = ledger::Books::open(options.database, clock);
  if (!books) return tl::unexpected<base::Error>(books.error());
  auto times = ledger::MachineTimes::open(options.database);
  if (!times) return tl::unexpected<base::Error>(times.error());
  // The main thread has a connection of its own: the other one is used by the reflectors' threads.
  auto to_read = ledger::Books::open_to_read(options.database, clock);
  if (!to_read) return tl::unexpected<base::Error>(to_read.error());
  const net::CurlGlobal curl;
  base::Metrics metrics;
  net::CurlTransport api(config->endpoint, kAgent);
  kube::Client client(api, config->tokens.get(), clock, metrics, client_options(*config));
  ledger::Intake intake(**books, metrics, log);
  ledger::JobFeed jobs(intake);
  ledger::RecordFeed records(intake, log);
  ledger::MachineFeed machines;
  runtime::Informer<api::GpuAccount> accounts(client, {}, clock, metrics, log);
  ledger::Publication publication(client, **to_read, intake, jobs, accounts.store(), clock, log);
  runtime::Reflector of_jobs(client, api::GpuJob::kType, {}, jobs, clock, metrics, log);
  runtime::Reflector of_records(client, api::GpuBillRecord::kType, {}, records, clock, metrics, log);
  runtime::Reflector of_machines(client, api::GpuNode::kType, {}, machines, clock, metrics, log);
  State state;
  const auto server = serve_health(options.health_bind_address, metrics, [&]() -> const char* {
    return state.diverged      ? "the books are not those that were published"
           : !of_jobs.synced() ? "GpuJobs were not listed yet"
           : state.behind      ? "the books cannot be written"
                               : "";
  });
  if (!server) return tl::unexpected<base::Error>(server.error());
  log.info("keeping the books", {{"database", (*books)->name()}, {"healthPort", (*server)->port()}});
  Readers readers(options, config->endpoint, client, clock, metrics, log);
  const auto tell = [&] {
    tell_state(metrics, **to_read, state);
    readers.serve();
  };
  await_agreement(publication, state, tell, clock, log, stop);
  std::vector<std::jthread> watching;
  for (auto* reflector : {&of_jobs, &of_records, &of_machines, &accounts.reflector()})
    watching.emplace_back([reflector](const std::stop_token& end) { reflector->run(end); });
  auto measured = clock.now();
  do {
    if (clock.now() - measured >= kMeasured) {
      measured = clock.now();
      store_times(machines, *times, clock, log);
    }
    const auto entered = records.entered();
    state.behind = !intake.retry().empty();
    tell();
    if (publication.publish(stop)) records.remove(entered, client, stop);
  } while (clock.sleep_for(kRetry, stop));
  return {};
}

base::Result<ledger::Head> adopt_books(const Options& options, base::Clock& clock, const base::Log& log) {
  auto config = kube::load_config({options.kubeconfig, ""}, clock);
  if (!config) return tl::unexpected<base::Error>(config.error());
  auto books = ledger::Books::open_to_read(options.database, clock);
  if (!books) return tl::unexpected<base::Error>(books.error());
  const net::CurlGlobal curl;
  base::Metrics metrics;
  net::CurlTransport api(config->endpoint, kAgent);
  kube::Client client(api, config->tokens.get(), clock, metrics, client_options(*config));
  ledger::Intake intake(**books, metrics, log);
  ledger::JobFeed jobs(intake);
  const runtime::Store<api::GpuAccount> accounts;
  return ledger::Publication(client, **books, intake, jobs, accounts, clock, log).adopt({});
}

}  // namespace gpupool
