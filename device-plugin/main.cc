// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "agent/agent.h"
#include "agent/exposition.h"
#include "agent/probes.h"
#include "agent/settings_watch.h"
#include "base/latest.h"
#include "base/signal_thread.h"
#include "base/stop_signals.h"
#include "enforcement/install_limiter.h"
#include "enforcement/region_store.h"
#include "kube/client.h"
#include "kube/config/rest_config.h"
#include "net/curl_transport.h"
#include "net/http_server.h"
#include "nvidia/vendor.h"
#include "options.h"
#include "report/publisher.h"

namespace gpupool {
namespace {

// After an Allocate the pod is in podresources, and the report should say so.
constexpr auto kAfterAllocate = std::chrono::milliseconds(250);
constexpr unsigned kStopGraceSeconds = 5;

std::string host_name() {
  char host[256] = "";
  return gethostname(host, sizeof(host) - 1) == 0 ? host : "";
}

net::ServerResponse response(const agent::ProbeAnswer& answer) {
  return {.status = answer.good ? 200 : 503, .body = answer.text};
}

// The GpuNode of this node, kept by a thread of its own.
class Reporting {
 public:
  Reporting(const std::string& node, const kube::RestConfig& config, base::Clock& clock,
            base::Metrics& metrics, const base::Log& log)
      : tokens_(config.tokens),
        transport_(config.endpoint, "gpupool-device-plugin/" GPUPOOL_VERSION),
        client_(
            transport_, tokens_.get(), clock, metrics,
            {.impersonate_user = config.impersonate_user, .impersonate_groups = config.impersonate_groups}),
        publisher_(client_, {.node = node, .plugin_version = GPUPOOL_VERSION}, clock, metrics, log),
        thread_([this](const std::stop_token& stop) { publisher_.run(stop); }) {}
  void offer(report::Facts facts) { publisher_.offer(std::move(facts)); }

 private:
  const net::CurlGlobal curl_;
  const std::shared_ptr<kube::TokenSource> tokens_;
  net::CurlTransport transport_;
  kube::Client client_;
  report::Publisher publisher_;
  std::jthread thread_;
};

// All parts, constructed in order of use and destroyed in reverse. References between them are to members
// declared before.
class Plugin {
 public:
  // limiter: the folder of the installed limiter; empty: there is none.
  Plugin(const Options& options, const std::string& limiter, Reporting* reporting, base::Clock& clock,
         base::Metrics& metrics, agent::Inbox& inbox, const base::Log& log)
      : options_(options),
        clock_(clock),
        metrics_(metrics),
        log_(log),
        started_(clock.now()),
        limits_(options.state_directory + "/limits"),
        regions_(options.regions_directory),
        vendor_(nvidia::make_vendor({.library = options.nvml_library}, log)),
        pods_(options.kubelet_directory + "/pod-resources/kubelet.sock"),
        context_{latest_table_,
                 rules_,
                 limits_,
                 regions_,
                 *vendor_.access,
                 gate_,
                 metrics,
                 log,
                 [this, &inbox] { inbox.look_soon(clock_.now() + kAfterAllocate); }},
        plugins_(options.kubelet_directory + "/device-plugins", context_, pods_, clock),
        agent_({*vendor_.source, vendor_.errors, pods_, latest_table_, rules_, context_, plugins_, inbox,
                snapshot_,
                [reporting](report::Facts facts) {
                  if (reporting) reporting->offer(std::move(facts));
                },
                clock, metrics, log},
               {.node = options.node_name,
                .config = options.config,
                .given = options.given,
                .state_directory = options.state_directory,
                .checkpoint = options.kubelet_directory + "/device-plugins/kubelet_internal_checkpoint",
                .paths = {.limits_directory = limits_.directory(),
                          .limiter_directory = limiter,
                          .regions_directory = regions_.directory()},
                .resource_names = vendor_.names}) {}

  base::Result<void> run(std::stop_token stop) {
    const auto server = net::HttpServer::start(
        options_.metrics_bind_address,
        {{"/metrics",
          [this](const net::ServerRequest&) {
            return net::ServerResponse{.content_type = "text/plain; version=0.0.4",
                                       .body = metrics_.expose() + agent::expose(*snapshot_.get())};
          }},
         {"/healthz",
          [this](const net::ServerRequest&) {
            return response(agent::alive(*snapshot_.get(), started_, clock_.now()));
          }},
         {"/readyz", [this](const net::ServerRequest&) {
            return response(agent::ready(*snapshot_.get(), plugins_.status()));
          }}});
    if (!server) return tl::unexpected<base::Error>(server.error());
    log_.info("serving metrics and probes", {{"port", (*server)->port()}});
    agent_.run(std::move(stop));
    return {};
  }

 private:
  const Options& options_;
  base::Clock& clock_;
  base::Metrics& metrics_;
  const base::Log& log_;
  const base::SteadyTime started_;
  slices::LatestTable latest_table_;
  base::Latest<kubelet::Rules> rules_;
  kubelet::LimitsStore limits_;
  enforcement::RegionStore regions_;
  kubelet::AllocationGate gate_;
  base::Latest<agent::Snapshot> snapshot_;
  vendor::Vendor vendor_;
  kubelet::PodResources pods_;
  kubelet::PluginContext context_;
  agent::PluginSet plugins_;
  agent::Agent agent_;
};

int install_limiter(const Options& options) {
  const auto installed = enforcement::install_limiter(options.install_limiter, options.limiter_directory);
  if (installed) {
    std::printf("%s\n", installed->c_str());
    return EXIT_SUCCESS;
  }
  std::fprintf(stderr, "gpupool-device-plugin: %s\n", installed.error().message.c_str());
  return EXIT_FAILURE;
}

// Without the limiter no container starts that is to have it, so that is no reason to end.
std::string find_limiter(const Options& options, const base::Log& log) {
  if (options.limiter_directory.empty()) return {};
  const auto installed = enforcement::installed_limiter(options.limiter_directory);
  if (installed) {
    log.info("The limiter is installed", {{"folder", *installed}});
    return *installed;
  }
  log.error("The limiter is not installed", {{"error", installed.error().message}});
  return {};
}

int run(Options options) {
  std::stop_source stop;
  agent::Inbox inbox;
  const base::SignalThread hangup({SIGHUP}, [&](int) { inbox.ask_reload(); });
  const base::StopSignals signals(stop);
  base::SystemClock clock;
  base::Metrics metrics;
  const base::Log log(options.log_level);
  if (options.node_name.empty()) options.node_name = host_name();
  log.info("starting", {{"version", GPUPOOL_VERSION}, {"node", options.node_name}});

  std::unique_ptr<Reporting> reporting;
  if (options.report) {
    const auto config = kube::load_config({.kubeconfig = options.kubeconfig}, clock);
    if (!config) {
      std::fprintf(stderr, "gpupool-device-plugin: %s (--no-report works without an API server)\n",
                   config.error().message.c_str());
      return EXIT_FAILURE;
    }
    reporting = std::make_unique<Reporting>(options.node_name, *config, clock, metrics, log);
  }
  // A driver that hangs must not keep the plugin from ending: the kernel lets go of the lock and all files.
  const std::stop_callback hurry(stop.get_token(), [] { ::alarm(kStopGraceSeconds); });
  Plugin plugin(options, find_limiter(options, log), reporting.get(), clock, metrics, inbox, log);
  const agent::SettingsWatch watch(options.config, log, [&] { inbox.ask_reload(); });
  if (const auto done = plugin.run(stop.get_token()); !done) {
    log.error("stopped by an error", {{"error", done.error().message}});
    return EXIT_FAILURE;
  }
  log.info("stopped");
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace gpupool

int main(int argc, char** argv) {
  const auto parsed = gpupool::parse_options(argc, argv);
  if (const auto* code = std::get_if<int>(&parsed)) return *code;
  auto options = std::get<gpupool::Options>(parsed);
  if (!options.install_limiter.empty()) return gpupool::install_limiter(options);
  return gpupool::run(std::move(options));
}
