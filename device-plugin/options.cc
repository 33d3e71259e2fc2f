// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>
#include <cstdio>

namespace gpupool {
namespace {

constexpr int kUsageError = 2;

void add_paths(CLI::App& app, Options& options) {
  app.add_option("--config", options.config, "YAML file; changes are taken up at once, or on SIGHUP")
      ->envname("CONFIG_FILE");
  app.add_option("--node-name", options.node_name, "Name of the Node that this machine is")
      ->envname("NODE_NAME");
  app.add_option("--kubelet-directory", options.kubelet_directory,
                 "Holds device-plugins/ and pod-resources/ of the kubelet")
      ->capture_default_str();
  app.add_option("--state-directory", options.state_directory,
                 "For limits files and health, on the node's disk and at the same path there")
      ->capture_default_str();
  app.add_option("--nvml-library", options.nvml_library,
                 "Path of NVML, or a name that the loader searches for")
      ->capture_default_str();
  app.add_option(
      "--limiter-directory", options.limiter_directory,
      "Holds the limiter that --install-limiter put on the node, at the same path there; default: none");
  app.add_option("--regions-directory", options.regions_directory,
                 "For what enforced containers count, on the node's tmpfs and at the same path there")
      ->capture_default_str();
  app.add_option("--install-limiter", options.install_limiter,
                 "Only copy the limiter from this folder to --limiter-directory");
  app.add_option("--metrics-bind-address", options.metrics_bind_address,
                 "HOST:PORT of /metrics, /healthz and /readyz; port 0 takes a free one")
      ->capture_default_str();
  app.add_option("--kubeconfig", options.kubeconfig,
                 "Kubeconfig file; without it $KUBECONFIG, the pod's service account, then ~/.kube/config");
}

// Each flag overrides its environment variable, and both override the file.
void add_settings(CLI::App& app, settings::Given& given) {
  app.add_option("--device-split-count", given.device_split_count, "Slices that each GPU is cut into")
      ->envname("DEVICE_SPLIT_COUNT");
  app.add_option("--device-memory-scaling", given.device_memory_scaling,
                 "All slices' memory as a factor of the GPU's; above 1 over-commits")
      ->envname("DEVICE_MEMORY_SCALING");
  app.add_option("--device-core-scaling", given.device_core_scaling,
                 "All slices' cores as a factor of the GPU's; above 1 over-commits")
      ->envname("DEVICE_CORE_SCALING");
  app.add_option("--resource-name", given.resource_name,
                 "Name of the resource; default gpupool.dev/vgpu, or nvidia.com/gpu for whole GPUs")
      ->envname("RESOURCE_NAME");
  app.add_option("--allocation-policy", given.policy, "pack, spread or distinct")
      ->envname("ALLOCATION_POLICY");
  app.add_option("--mig", given.mig, "true: advertise MIG instances as nvidia.com/mig-<profile>")
      ->envname("MIG");
}

}  // namespace

std::variant<Options, int> parse_options(int argc, const char* const* argv) {
  Options options;
  std::string log_level = "info";
  CLI::App app("Hands the GPUs of a node to the kubelet, whole or in slices.", "gpupool-device-plugin");
  app.set_version_flag("--version", "gpupool-device-plugin " GPUPOOL_VERSION);
  add_paths(app, options);
  add_settings(app, options.given);
  bool no_report = false;
  app.add_flag("--no-report", no_report, "Write no GpuNode: needs no API server");
  app.add_option("--log-level", log_level, "debug, info, warning or error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  if (!options.install_limiter.empty() && options.limiter_directory.empty()) {
    std::fprintf(stderr, "--install-limiter needs --limiter-directory\n");
    return kUsageError;
  }
  options.report = !no_report;
  base::parse_log_level(log_level, options.log_level);
  // settings::load() knows which values are allowed, so flags are checked by it.
  if (const auto checked = settings::load("", options.given); !checked) {
    std::fprintf(stderr, "%s\n", checked.error().message.c_str());
    return kUsageError;
  }
  return options;
}

}  // namespace gpupool
