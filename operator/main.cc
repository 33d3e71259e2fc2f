// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "base/heap.h"
#include "base/stop_signals.h"
#include "controllers/accounts/controller.h"
#include "controllers/cluster/bill_records.h"
#include "controllers/cluster/server_fields.h"
#include "controllers/gpujob/controller.h"
#include "controllers/gpunode/controller.h"
#include "controllers/gpupool/controller.h"
#include "controllers/queue/pool_queue.h"
#include "controllers/sweep/controller.h"
#include "controllers/sweeper/node_sweeper_controller.h"
#include "controllers/sweeper/pod_sweeper_controller.h"
#include "keeper_finder.h"
#include "kube/config/rest_config.h"
#include "leadership.h"
#include "net/budget_transport.h"
#include "net/curl_transport.h"
#include "net/http_server.h"
#include "net/server_clock.h"
#include "options.h"
#include "runtime/manager/manager.h"
#include "transport_factory.h"
#include "worker_questions.h"

namespace gpupool {
namespace {

using std::chrono::seconds;
constexpr auto kStopGrace = seconds(8);  // the program must end within 10 s of SIGTERM

std::string instance_name() {
  char host[256] = "";
  if (gethostname(host, sizeof(host) - 1) != 0) return "gpupool-operator";
  return "gpupool-operator-" + std::string(host);
}

net::ServerResponse ready_response(const runtime::Manager& manager) {
  if (manager.ready()) return {.body = "ok\n"};
  std::string waiting = "not ready; caches still to be filled:";
  bool ours = false;
  for (const auto& cache : manager.unsynced()) {
    waiting += " " + cache;
    if (cache.find(" gpu") != std::string::npos) ours = true;
  }
  if (ours) waiting += "; GpuPool, GpuJob and GpuNode must all be installed (kubectl apply -f crds/)";
  return {.status = 503, .body = waiting + "\n"};
}

// What only a cluster with a ledger has.
struct MoneyParts {
  explicit MoneyParts(const controllers::Setup& setup)
      : versions(setup.caches),
        bills(setup.client, versions, setup.clock, setup.metrics, setup.log),
        accounts(setup.client, setup.caches, versions, setup.clock, setup.metrics, setup.log) {}

  void begin(const controllers::Setup& setup, controllers::GpuJobController& jobs) {
    controller.emplace(setup, accounts, jobs.queue());
    bills.add_to(setup.manager);
    accounts.add_to(setup.manager);
  }

  controllers::BillVersions versions;
  controllers::BillRecords bills;
  controllers::AccountBook accounts;
  std::optional<controllers::AccountController> controller;
};

// All parts of the program, constructed in order of use and destroyed in reverse. Members refer only to
// members declared before them.
class Operator {
 public:
  Operator(const Options& options, const kube::RestConfig& config, base::Clock& local, const base::Log& log)
      : options_(options),
        log_(log),
        leadership_(options, config, instance_name(), metrics_, log),
        wire_(make_transport(config.endpoint, "gpupool-operator/" GPUPOOL_VERSION, metrics_, log)),
        clock_(local),
        dated_(*wire_, clock_),
        transport_(dated_, [this](const net::HttpRequest& request) { return leadership_.budget(request); }),
        client_(transport_, config.tokens.get(), clock_, metrics_, client_options(options, config)),
        caches_(client_, clock_, metrics_, log),
        events_(client_, "gpupool-operator", instance_name(), clock_, metrics_, log),
        manager_(clock_, log),
        setup_{client_, caches_, events_, manager_, clock_, metrics_, log_},
        pool_queue_(caches_, clock_),
        keeper_(make_keeper_finder()),
        money_(make_money()),
        jobs_(setup_, pool_queue_, {options.threads, worker_settings(), money_actions()}),
        pools_(setup_, pool_queue_, [this] { return jobs_.history(); }),
        sweeps_(setup_, ask_over_tcp()),
        node_sweeper_(setup_),
        pod_sweeper_(setup_),
        node_marker_(setup_) {
    manager_.add_last(events_);
    if (auto* gate = leadership_.gate()) manager_.set_leader_gate(*gate);
    manager_.set_preparation([this](std::stop_token stop) { read_template_fields(std::move(stop)); });
    caches_.add_to(manager_);
    if (money_) money_->begin(setup_, jobs_);
  }

  base::Result<void> run(std::stop_token stop) {
    const auto server = net::HttpServer::start(
        options_.metrics_bind_address,
        {{"/metrics",
          [this](const net::ServerRequest&) {
            return net::ServerResponse{.content_type = "text/plain; version=0.0.4",
                                       .body = metrics_.expose()};
          }},
         {"/healthz", [](const net::ServerRequest&) { return net::ServerResponse{.body = "ok\n"}; }},
         {"/readyz", [this](const net::ServerRequest&) { return ready_response(manager_); }}});
    if (!server) return tl::unexpected<base::Error>(server.error());
    log_.info("serving metrics and probes", {{"port", (*server)->port()}});
    return manager_.run(std::move(stop), seconds(options_.sync_timeout_seconds), kStopGrace);
  }

 private:
  std::unique_ptr<KeeperFinder> make_keeper_finder() {
    if (options_.keeper_address.empty()) return nullptr;
    return std::make_unique<KeeperFinder>(options_.keeper_address, options_.keeper_keys, clock_, metrics_,
                                          log_);
  }

  std::unique_ptr<MoneyParts> make_money() {
    return options_.ledger ? std::make_unique<MoneyParts>(setup_) : nullptr;
  }

  controllers::Money money_actions() {
    if (!money_) return {};
    return {&money_->bills, &money_->accounts};
  }

  controllers::WorkerSettings worker_settings() const {
    controllers::WorkerSettings settings{{options_.launcher_image, options_.carry_image}};
    if (keeper_) settings.keeper = [&finder = *keeper_] { return finder.access(); };
    return settings;
  }

  // Once, because the fields change only with an upgrade of the API server.
  void read_template_fields(std::stop_token stop) {
    auto fields = controllers::read_template_fields(client_, std::move(stop));
    if (fields) return caches_.template_fields.set(*std::move(fields));
    log_.warning(
        "unknown fields in pod templates are not found, because the API server's OpenAPI document "
        "could not be read",
        {{"error", fields.error().message}});
  }

  static kube::ClientOptions client_options(const Options& options, const kube::RestConfig& config) {
    kube::ClientOptions client_options;
    client_options.impersonate_user = config.impersonate_user;
    client_options.impersonate_groups = config.impersonate_groups;
    client_options.qps = options.qps;
    client_options.burst = options.burst;
    return client_options;
  }

  const Options& options_;
  base::Log log_;
  base::Metrics metrics_;
  Leadership leadership_;
  std::unique_ptr<net::Transport> wire_;
  net::ServerClock clock_;
  net::DatedTransport dated_;
  net::BudgetTransport transport_;
  kube::Client client_;
  controllers::Caches caches_;
  runtime::EventRecorder events_;
  runtime::Manager manager_;
  controllers::Setup setup_;
  controllers::PoolQueue pool_queue_;     // before the controllers: it must record changes before they react
  std::unique_ptr<KeeperFinder> keeper_;  // null: there is no keeper
  std::unique_ptr<MoneyParts> money_;     // null: there is no ledger
  controllers::GpuJobController jobs_;
  controllers::GpuPoolController pools_;
  controllers::GpuSweepController sweeps_;
  controllers::NodeSweeperController node_sweeper_;
  controllers::PodSweeperController pod_sweeper_;
  controllers::NodeMarkerController node_marker_;
};

int run(const Options& options) {
  std::stop_source stop;
  const base::StopSignals signals(stop);
  const net::CurlGlobal curl;
  base::SystemClock clock;
  const base::Log log(options.log_level);
  const auto config = kube::load_config({options.kubeconfig, options.context}, clock);
  if (!config) {
    std::fprintf(stderr, "gpupool-operator: %s\n", config.error().message.c_str());
    return EXIT_FAILURE;
  }
  log.info("starting", {{"version", GPUPOOL_VERSION}, {"server", config->endpoint.url}});
  Operator gpupool_operator(options, *config, clock, log);
  const auto done = gpupool_operator.run(stop.get_token());
  if (!done) {
    log.error("stopped by an error", {{"error", done.error().message}});
    // A part that did not return in time still uses the objects that would be destroyed now.
    std::_Exit(EXIT_FAILURE);
  }
  log.info("stopped");
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace gpupool

int main(int argc, char** argv) {
  gpupool::base::keep_heap_small();
  const auto parsed = gpupool::parse_options(argc, argv);
  if (const auto* code = std::get_if<int>(&parsed)) return *code;
  return gpupool::run(std::get<gpupool::Options>(parsed));
}
