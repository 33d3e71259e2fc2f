// SPDX-License-Identifier: Apache-2.0
#include "bench/fair/options.h"

#include <CLI/CLI.hpp>

#include "bench/fair/policies/policies.h"

namespace gpupool::bench::fair {
namespace {

constexpr int kUsageError = 2;

constexpr char kAbout[] =
    "Plays a workload of GPU jobs under several policies of a queue, on a clock of its own, and prints how "
    "each\n"
    "did as JSON. Without --trace, the workload is a synthetic twin of 30 days of the Philly trace. The "
    "same\n"
    "options give the same numbers, except the times of a pass.";
constexpr char kTraces[] =
    "Traces:\n"
    "  NAME.trace   of stanford-futuredata/gavel, scheduler/traces/msr/seed=*/: tab-separated type, command, "
    "flag,\n"
    "               needs data, steps, arrival in seconds, GPUs. One tenant a file, named as it. Steps "
    "become times\n"
    "               by --throughputs, that repository's scheduler/simulation_throughputs.json.\n"
    "  NAME.csv     tenant,arrival,gpus,seconds; both times in seconds. That line may stand first.";

void add_workload(CLI::App& app, Options& options) {
  app.add_option("--gpus", options.gpus, "GPUs of the cluster, one a node")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--days", options.days, "Length of the twin; later jobs of a trace are left out")
      ->check(CLI::Range(1, 3650))
      ->capture_default_str();
  app.add_option("--load", options.load, "What the twin's jobs need, in percent of what the GPUs can do")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "Of the twin, and of what jobs declare")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("--trace", options.trace.files, "Files with jobs, see below")->type_name("FILE...");
  app.add_option("--throughputs", options.trace.throughputs, "Steps per second of .trace files' jobs")
      ->type_name("FILE");
  app.add_option("--device", options.trace.device, "GPU of the throughputs")->capture_default_str();
  app.add_option("--longest", options.trace.longest, "Longer run times of a trace are cut, in seconds")
      ->check(CLI::Range(1, 315360000))
      ->capture_default_str();
  app.add_option("--fewest-jobs", options.trace.fewest_jobs,
                 "Tenants of a trace with fewer jobs are left out")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
}

void add_settings(CLI::App& app, Settings& settings) {
  app.add_option("--restart", settings.restart, "Seconds until a job works that has yielded before")
      ->check(CLI::Range(0, 86400))
      ->capture_default_str();
  app.add_option("--min-run", settings.min_run,
                 "Seconds that a job of the reference runs before it may yield")
      ->check(CLI::Range(0, 864000))
      ->capture_default_str();
}

}  // namespace

std::variant<Options, int> parse_options(int argc, const char* const* argv) {
  Options options;
  options.policies = policy_names();
  CLI::App app(kAbout, "bench_fair");
  app.footer(kTraces);
  add_workload(app, options);
  add_settings(app, options.settings);
  app.add_option("--policies", options.policies, "Which")
      ->delimiter(',')
      ->check(CLI::IsMember(policy_names()))
      ->type_name("NAME,...");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  options.trace.days = options.days;
  return options;
}

}  // namespace gpupool::bench::fair
