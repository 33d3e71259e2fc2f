#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/heap.h"
#include "controllers/gpujob/reconciler.h"
#include "controllers/gpunode/node_marker.h"
#include "controllers/gpupool/reconciler.h"
#include "controllers/sweeper/node_sweeper.h"
#include "controllers/sweeper/pod_sweeper.h"
#include "controllers/wiring.h"
#include "kube/config/rest_config.h"
#include "leadership.h"
#include "net/budget_transport.h"
#include "net/curl_transport.h"
#include "net/http_server.h"
#include "net/server_clock.h"
#include "options.h"
#include "runtime/manager/manager.h"
#include "signals.h"
#include "transport_factory.h"

namespace gpupool {
namespace {

using std::chrono::seconds;
constexpr auto kStopGrace = seconds(8);  // SIGTERM ends the program in under 10 s

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

// All parts, constructed in order of use and destroyed in reverse. References between them are to members
// declared before.
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
        pool_queue_(caches_),
        children_(client_, caches_, clock_, options.launcher_image),
        node_readiness_(clock_),
        observer_(client_, caches_, children_, pool_queue_, node_readiness_, clock_),
        job_writer_(client_, caches_),
        node_writer_(client_, caches_),
        node_leases_(node_writer_),
        worker_pods_(client_, clock_),
        job_metrics_(metrics_),
        events_(client_, "gpupool-operator", instance_name(), clock_, metrics_, log),
        job_reconciler_({caches_, pool_queue_, observer_, job_writer_, node_leases_, children_, worker_pods_,
                         job_metrics_, events_, clock_}),
        jobs_({"gpujob", "GpuJob", options.workers, seconds(30)}, job_reconciler_, clock_, metrics_, log),
        pool_reconciler_(client_, pool_queue_, clock_,
                         [this](const api::ObjectKey& job) { jobs_.queue().add(job); }),
        pools_({"gpupool", "GpuPool", 1, seconds(30)}, pool_reconciler_, clock_, metrics_, log),
        foreign_pods_(client_, events_, metrics_),
        node_sweeper_(client_, caches_, node_leases_, worker_pods_, foreign_pods_),
        nodes_({"node-sweeper", "Node", 1, seconds(5)}, node_sweeper_, clock_, metrics_, log),
        pod_sweeper_(client_, caches_, worker_pods_),
        pods_({"pod-sweeper", "Pod", 1, seconds(30)}, pod_sweeper_, clock_, metrics_, log),
        node_marker_(node_writer_, caches_),
        marks_({"node-marker", "Node", 1, seconds(30)}, node_marker_, clock_, metrics_, log),
        manager_(clock_, log) {
    controllers::connect(caches_, pool_queue_, node_readiness_, foreign_pods_,
                         {jobs_.queue(), pools_.queue(), nodes_.queue(), pods_.queue(), marks_.queue()});
    caches_.jobs.on_change([this](const runtime::Change<api::GpuJob>& change) {
      job_metrics_.on_change(change.before.get(), change.after.get());
    });
    manager_.add_last(events_);
    if (auto* gate = leadership_.gate()) manager_.set_leader_gate(*gate);
    add_cache(caches_.pools);
    add_cache(caches_.jobs);
    add_cache(caches_.nodes);
    add_cache(caches_.gpu_nodes);
    add_cache(caches_.pods);
    add_cache(caches_.newcomers);
    add_cache(caches_.stateful_sets);
    add_cache(caches_.batch_jobs);
    add_cache(caches_.services);
    for (runtime::Runnable* controller : {&jobs_, &pools_, &nodes_, &pods_, &marks_})
      manager_.add_controller(*controller);
  }

  base::Result<void> run(std::stop_token stop) {
    const auto server = net::HttpServer::start(
        options_.metrics_bind_address,
        {{"/metrics",
          [this](const std::string&, const std::string&) {
            return net::ServerResponse{.content_type = "text/plain; version=0.0.4",
                                       .body = metrics_.expose()};
          }},
         {"/healthz",
          [](const std::string&, const std::string&) { return net::ServerResponse{.body = "ok\n"}; }},
         {"/readyz", [this](const std::string&, const std::string&) { return ready_response(manager_); }}});
    if (!server) return tl::unexpected<base::Error>(server.error());
    log_.info("serving metrics and probes", {{"port", (*server)->port()}});
    return manager_.run(std::move(stop), seconds(options_.sync_timeout_seconds), kStopGrace);
  }

 private:
  static kube::ClientOptions client_options(const Options& options, const kube::RestConfig& config) {
    kube::ClientOptions client_options;
    client_options.impersonate_user = config.impersonate_user;
    client_options.impersonate_groups = config.impersonate_groups;
    client_options.qps = options.qps;
    client_options.burst = options.burst;
    return client_options;
  }

  template <class K>
  void add_cache(runtime::Informer<K>& informer) {
    manager_.add_cache(informer.reflector(), [&informer] { return informer.synced(); });
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
  controllers::PoolQueue pool_queue_;
  controllers::Children children_;
  controllers::NodeReadiness node_readiness_;
  controllers::JobObserver observer_;
  controllers::JobWriter job_writer_;
  controllers::NodeWriter node_writer_;
  controllers::NodeLeases node_leases_;
  controllers::WorkerPods worker_pods_;
  controllers::JobMetrics job_metrics_;
  runtime::EventRecorder events_;
  controllers::GpuJobReconciler job_reconciler_;
  runtime::Controller jobs_;
  controllers::GpuPoolReconciler pool_reconciler_;
  runtime::Controller pools_;
  controllers::ForeignPods foreign_pods_;
  controllers::NodeSweeper node_sweeper_;
  runtime::Controller nodes_;
  controllers::PodSweeper pod_sweeper_;
  runtime::Controller pods_;
  controllers::NodeMarker node_marker_;
  runtime::Controller marks_;
  runtime::Manager manager_;
};

int run(const Options& options) {
  std::stop_source stop;
  const StopSignals signals(stop);
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
    // A part that did not return in time still uses what would be destroyed now.
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
