// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>

#include "base/json.h"
#include "reporting/places.h"

namespace gpupool::carry {
namespace {

constexpr int kUsageError = 2;

// The rank is the number at the end of the name of a StatefulSet's pod.
std::int64_t rank_in(const std::string& pod) {
  const auto dash = pod.rfind('-');
  std::int64_t rank = 0;
  if (dash != std::string::npos) std::from_chars(pod.data() + dash + 1, pod.data() + pod.size(), rank);
  return rank;
}

int fail(const std::string& problem) {
  std::fprintf(stderr, "gpupool-carry: %s\n", problem.c_str());
  return kUsageError;
}

}  // namespace

std::variant<Command, int> parse_options(int argc, const char* const* argv) {
  CLI::App app("Brings files to the workers of a GpuJob, and takes their results.", "gpupool-carry");
  app.set_version_flag("--version", "gpupool-carry " GPUPOOL_VERSION);
  app.require_subcommand(1);
  FetchOptions fetch;
  fetch.work = api::kWorkDirectory;
  fetch.state = std::string(kLauncherDirectory) + "/source";
  fetch.secrets = kSecretsDirectory;
  fetch.config_maps = kConfigMapsDirectory;
  std::string source;
  auto* fetching = app.add_subcommand("fetch", "Fetch the source of a job, before its worker starts");
  fetching->add_option("--source", source, "spec.source of the GpuJob, as JSON")->required();
  fetching->add_option("--attempt", fetch.attempt, "The attempt, from 0");
  fetching->add_option("--report-bytes", fetch.report_bytes, "The most bytes of the report");
  fetching->add_option("--termination-log", fetch.termination_log, "Where the report goes")
      ->capture_default_str();
  fetching->add_option("--work", fetch.work, "The directory of the items")->capture_default_str();
  fetching->add_option("--state", fetch.state, "For what is complete")->capture_default_str();
  fetching->add_option("--secrets", fetch.secrets, "One directory for each Secret")->capture_default_str();
  fetching->add_option("--config-maps", fetch.config_maps, "One directory for each ConfigMap")
      ->capture_default_str();

  PushOptions push;
  push.work = api::kWorkDirectory;
  push.launcher = kLauncherDirectory;
  push.claims = kClaimsDirectory;
  push.secrets = kSecretsDirectory;
  std::string results;
  std::string pod;
  auto* pushing = app.add_subcommand("push", "Put the results of a worker away, at its end and before");
  pushing->add_option("--results", results, "spec.results of the GpuJob, as JSON")->required();
  pushing->add_option("--job", push.names.job, "Name of the GpuJob");
  pushing->add_option("--namespace", push.names.ns, "Its namespace");
  pushing->add_option("--attempt", push.names.attempt, "The attempt, from 0");
  pushing->add_option("--rank", push.names.rank, "The rank of this worker");
  pushing->add_option("--pod-name", pod, "Name of the pod, which ends with its rank");
  pushing->add_option("--grace-seconds", push.grace_seconds, "Grace period of the pod");
  pushing->add_option("--report-bytes", push.report_bytes, "The most bytes of the report");
  pushing->add_option("--termination-log", push.termination_log, "Where the report goes")
      ->capture_default_str();
  pushing->add_option("--work", push.work, "The directory of the files")->capture_default_str();
  pushing->add_option("--launcher", push.launcher, "The directory of gpupool-launch")->capture_default_str();
  pushing->add_option("--claims", push.claims, "One directory for each claim")->capture_default_str();
  pushing->add_option("--secrets", push.secrets, "One directory for each Secret")->capture_default_str();
  pushing->add_flag("--hold", push.hold,
                    "Started again, wait before the end: the pod restarts its containers");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : kUsageError;
  }
  if (fetching->parsed()) {
    auto parsed = base::json::read<api::JobSource>(source);
    if (!parsed) return fail("--source: " + parsed.error().message);
    fetch.source = *std::move(parsed);
    return Command(std::move(fetch));
  }
  auto parsed = base::json::read<std::vector<api::JobResult>>(results);
  if (!parsed) return fail("--results: " + parsed.error().message);
  push.results = *std::move(parsed);
  if (!pod.empty()) push.names.rank = rank_in(pod);
  return Command(std::move(push));
}

}  // namespace gpupool::carry
