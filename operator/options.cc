// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>
#include <map>

namespace gpupool {
namespace {

constexpr int kUsageError = 2;

// The three durations of the election, as on the command line.
struct ElectionSeconds {
  double lease_duration = 15;
  double renew_deadline = 10;
  double retry_period = 2;
};

base::Duration duration(double seconds) {
  return std::chrono::duration_cast<base::Duration>(std::chrono::duration<double>(seconds));
}

void add_duration(CLI::App& app, const char* name, double& seconds, const char* help) {
  const std::map<std::string, double> units{{"ms", 0.001}, {"s", 1}, {"m", 60}};
  app.add_option(name, seconds, help)
      ->transform(CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::CASE_SENSITIVE).description(""))
      ->check(CLI::Range(0.01, 3600.0).description(""))
      ->type_name("DURATION")
      ->default_str(std::to_string(static_cast<int>(seconds)) + "s");
}

void add_election(CLI::App& app, ElectionOptions& election, ElectionSeconds& seconds) {
  app.add_flag("--leader-elect", election.enabled,
               "Work only while holding a Lease, so that several operators can run; false without the flag");
  app.add_option("--leader-elect-namespace", election.ns,
                 "Namespace of the Lease; default: the pod's, or the kubeconfig context's");
  app.add_option("--leader-elect-resource-name", election.name, "Name of the Lease")->capture_default_str();
  add_duration(app, "--leader-elect-lease-duration", seconds.lease_duration,
               "How long the others wait for a leader that does not renew");
  add_duration(app, "--leader-elect-renew-deadline", seconds.renew_deadline,
               "How long a leader that cannot renew goes on before it ends");
  add_duration(app, "--leader-elect-retry-period", seconds.retry_period, "Between two renewals");
}

void take_times(const ElectionSeconds& seconds, ElectionOptions& election) {
  if (seconds.lease_duration <= seconds.renew_deadline || seconds.renew_deadline <= seconds.retry_period) {
    throw CLI::ValidationError(
        "--leader-elect-lease-duration",
        "must be longer than the renew deadline, and that longer than the retry period");
  }
  election.times = {duration(seconds.lease_duration), duration(seconds.renew_deadline),
                    duration(seconds.retry_period)};
}

}  // namespace

std::variant<Options, int> parse_options(int argc, const char* const* argv) {
  Options options;
  std::string log_level = "info";
  CLI::App app("Rents GPU nodes to jobs: reconciles GpuPool and GpuJob objects of a Kubernetes cluster.",
               "gpupool-operator");
  app.set_version_flag("--version", "gpupool-operator " GPUPOOL_VERSION);
  app.add_option("--kubeconfig", options.kubeconfig,
                 "Kubeconfig file; without it $KUBECONFIG, the pod's service account, then ~/.kube/config");
  app.add_option("--context", options.context, "Context of the kubeconfig; default: its current-context");
  app.add_option("--metrics-bind-address", options.metrics_bind_address,
                 "HOST:PORT of /metrics, /healthz and /readyz; port 0 takes a free one")
      ->capture_default_str();
  app.add_option("--launcher-image", options.launcher_image,
                 "Image that holds gpupool-launch, for workers' init container")
      ->capture_default_str();
  app.add_option("--carry-image", options.carry_image,
                 "Image that holds gpupool-carry, for workers of jobs with a source or results")
      ->capture_default_str();
  auto* keeper = app.add_option("--keeper-address", options.keeper_address,
                                "HOST:PORT of gpupool-keeper, to which new workers send what they print");
  auto* keys = app.add_option("--keeper-keys-directory", options.keeper_keys,
                              "Holds the keys of which workers' tokens for the keeper are made");
  keeper->needs(keys);
  keys->needs(keeper);
  app.add_flag("--ledger", options.ledger,
               "A gpupool-ledger enters what jobs have held: keep it in GpuBillRecords until that is done");
  app.add_option("--log-level", log_level, "debug, info, warning or error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str();
  app.add_option("--workers", options.threads, "GpuJobs reconciled at the same time")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--kube-api-qps", options.qps,
                 "API requests a second, watches excepted; 0: the server decides")
      ->check(CLI::Range(0.0, 100000.0))
      ->capture_default_str();
  app.add_option("--kube-api-burst", options.burst,
                 "API requests that may go out at once under --kube-api-qps")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--cache-sync-timeout", options.sync_timeout_seconds,
                 "Seconds until unsynced caches end the program")
      ->check(CLI::Range(1, 86400))
      ->capture_default_str();
  ElectionSeconds election_seconds;
  add_election(app, options.election, election_seconds);
  try {
    app.parse(argc, argv);
    take_times(election_seconds, options.election);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  base::parse_log_level(log_level, options.log_level);
  return options;
}

}  // namespace gpupool
