// SPDX-License-Identifier: Apache-2.0
#include "run_checks.h"

#include <array>
#include <filesystem>
#include <optional>

#include "checks/clock.h"
#include "checks/gpu_model.h"
#include "probes/api_server.h"
#include "probes/cgroups.h"
#include "probes/clock.h"
#include "probes/container_runtime.h"
#include "probes/driver.h"
#include "probes/host_root.h"
#include "probes/kernel.h"
#include "probes/kubelet.h"
#include "probes/ports.h"

namespace gpupool::preflight {
namespace {

// What several checks need; each part is found out at most once, when the first check asks for it.
class Machine {
 public:
  Machine(const Options& given, base::Clock& clock, const base::Log& log)
      : options(given), root(std::filesystem::absolute(given.root).string()), clock_(clock), log_(log) {}

  const checks::DriverFacts& driver() {
    if (!driver_) driver_ = probes::driver(root, options.nvml_library, log_);
    return *driver_;
  }
  const probes::ApiAnswer& api_server() {
    if (!answer_) {
      answer_ = probes::ask_api_server({.kubeconfig = options.kubeconfig,
                                        .server = options.server,
                                        .pool = options.pool,
                                        .user_agent = "gpupool-preflight/" GPUPOOL_VERSION},
                                       clock_);
    }
    return *answer_;
  }

  const Options& options;
  const probes::HostRoot root;

 private:
  base::Clock& clock_;
  const base::Log& log_;
  std::optional<checks::DriverFacts> driver_;
  std::optional<probes::ApiAnswer> answer_;
};

std::string node_name(const Machine& machine) {
  return machine.options.node_name.empty() ? probes::host_name(machine.root) : machine.options.node_name;
}

checks::Finding gpu_model(Machine& machine) {
  const Options& options = machine.options;
  checks::GpuModelFacts facts{
      .inventory = machine.driver().inventory, .pool = {}, .pool_error = {}, .node_name = node_name(machine)};
  if (!options.pool.empty()) {
    facts.pool = machine.api_server().pool;
    facts.pool_error = machine.api_server().pool_error;
  } else if (!options.models.empty() || !options.min_memory.empty()) {
    facts.pool.emplace();
    facts.pool->spec.gpus.models = options.models;
    facts.pool->spec.gpus.min_memory = options.min_memory;
  }
  return checks::judge_gpu_model(facts);
}

checks::Finding time(Machine& machine) {
  return checks::judge_clock(
      {.synchronised = probes::clock_synchronised(), .ahead = machine.api_server().clock_ahead});
}

struct Check {
  const char* name;
  checks::Finding (*make)(Machine& machine);
};

constexpr std::array kChecks{
    Check{"driver", [](Machine& machine) { return checks::judge_driver(machine.driver()); }},
    Check{"gpu-model", gpu_model},
    Check{"container-runtime",
          [](Machine& machine) {
            return checks::judge_container_runtime(probes::container_runtime(machine.root));
          }},
    Check{"cgroups", [](Machine& machine) { return checks::judge_cgroups(probes::cgroups(machine.root)); }},
    Check{"time", time},
    Check{"api-server",
          [](Machine& machine) { return checks::judge_api_server(machine.api_server().facts); }},
    Check{"ports",
          [](Machine& machine) {
            return checks::judge_ports(probes::ports(machine.root, checks::node_ports()));
          }},
    Check{"kernel",
          [](Machine& machine) {
            return checks::judge_kernel(probes::kernel(machine.root, machine.options.node_name));
          }},
    Check{"kubelet",
          [](Machine& machine) {
            return checks::judge_kubelet(probes::kubelet(machine.root, machine.options.kubelet_directory));
          }},
};

}  // namespace

std::vector<std::string> check_names() {
  std::vector<std::string> names;
  names.reserve(kChecks.size());
  for (const Check& check : kChecks) names.emplace_back(check.name);
  return names;
}

std::vector<checks::Finding> run_checks(const Options& options, base::Clock& clock, const base::Log& log) {
  Machine machine(options, clock, log);
  std::vector<checks::Finding> findings;
  for (const Check& check : kChecks) {
    if (options.checks.contains(check.name)) findings.push_back(check.make(machine));
  }
  return findings;
}

}  // namespace gpupool::preflight
