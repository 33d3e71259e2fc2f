// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>

#include "base/quantity.h"
#include "run_checks.h"

namespace gpupool::preflight {
namespace {

constexpr int kUsageError = 2;

struct Chosen {
  std::vector<std::string> only;
  std::vector<std::string> skip;
};

void add_machine(CLI::App& app, Options& options) {
  app.add_option("--root", options.root, "Where the machine's file system is mounted, in a container")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  app.add_option("--node-name", options.node_name,
                 "Name of the Node that this machine is or will be; default: its host name")
      ->envname("NODE_NAME");
  app.add_option(
      "--nvml-library", options.nvml_library,
      "Path of NVML, or a name that the loader searches for; default: the machine's libnvidia-ml.so.1");
  app.add_option("--kubelet-directory", options.kubelet_directory,
                 "Holds device-plugins/ and pod-resources/ of the kubelet")
      ->capture_default_str();
}

void add_cluster(CLI::App& app, Options& options) {
  auto* const kubeconfig = app.add_option(
      "--kubeconfig", options.kubeconfig,
      "Kubeconfig file; without it $KUBECONFIG, the pod's service account, then ~/.kube/config");
  auto* const server =
      app.add_option("--server", options.server, "URL of the API server, to ask it without credentials")
          ->excludes(kubeconfig);
  auto* const pool =
      app.add_option("--pool", options.pool, "GpuPool to compare the GPUs with")->excludes(server);
  app.add_option("--models", options.models,
                 "GPU models to compare with instead, as in spec.gpus.models of a pool")
      ->delimiter(',')
      ->excludes(pool);
  app.add_option("--min-memory", options.min_memory,
                 "Memory that a GPU must have, as in spec.gpus.minMemory: 40Gi")
      ->excludes(pool);
}

void add_choice(CLI::App& app, Chosen& chosen) {
  const auto known = CLI::IsMember(check_names());
  auto* const only =
      app.add_option("--only", chosen.only, "Make these checks alone")->delimiter(',')->check(known);
  app.add_option("--skip", chosen.skip, "Leave these checks out")
      ->delimiter(',')
      ->check(known)
      ->excludes(only);
}

void take_choice(const Chosen& chosen, Options& options) {
  const auto all = check_names();
  options.checks = chosen.only.empty() ? std::set<std::string>(all.begin(), all.end())
                                       : std::set<std::string>(chosen.only.begin(), chosen.only.end());
  for (const std::string& name : chosen.skip) options.checks.erase(name);
}

}  // namespace

std::variant<Options, int> parse_options(int argc, const char* const* argv) {
  Options options;
  Chosen chosen;
  CLI::App app("Finds out whether this machine can serve in a GPU pool, and what to do where it cannot.",
               "gpupool-preflight");
  app.set_version_flag("--version", "gpupool-preflight " GPUPOOL_VERSION);
  app.footer("Exit code: 0 nothing failed, 1 a check failed, 2 wrong flags.");
  add_machine(app, options);
  add_cluster(app, options);
  add_choice(app, chosen);
  app.add_flag("--json", options.json, "Print one JSON object");
  try {
    app.parse(argc, argv);
    if (!options.min_memory.empty() && !base::parse_quantity(options.min_memory)) {
      throw CLI::ValidationError("--min-memory",
                                 "\"" + options.min_memory + "\" is no quantity such as 40Gi");
    }
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  take_choice(chosen, options);
  return options;
}

}  // namespace gpupool::preflight
