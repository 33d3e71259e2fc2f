#include "options.h"

#include <CLI/CLI.hpp>

namespace gpupool {
namespace {

constexpr int kUsageError = 2;

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
  app.add_option("--log-level", log_level, "debug, info, warning or error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str();
  app.add_option("--workers", options.workers, "GpuJobs reconciled at the same time")
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
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  base::parse_log_level(log_level, options.log_level);
  return options;
}

}  // namespace gpupool
