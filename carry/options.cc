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

// With the place as default.
void add_place(CLI::App& command, const char* flag, std::string& place, const std::string& usual,
               const char* help) {
  place = usual;
  command.add_option(flag, place, help)->capture_default_str();
}

CLI::App* add_fetch(CLI::App& app, FetchOptions& fetch, std::string& source) {
  auto* command = app.add_subcommand("fetch", "Fetch the source of a job, before its worker starts");
  command->add_option("--source", source, "spec.source of the GpuJob, as JSON")->required();
  command->add_option("--attempt", fetch.attempt, "The attempt, from 0");
  command->add_option("--report-bytes", fetch.report_bytes, "The most bytes of the report");
  add_place(*command, "--termination-log", fetch.termination_log, kTerminationLog, "Where the report goes");
  add_place(*command, "--work", fetch.work, api::kWorkDirectory, "The directory of the items");
  add_place(*command, "--state", fetch.state, std::string(kLauncherDirectory) + "/source",
            "For what is complete");
  add_place(*command, "--secrets", fetch.secrets, kSecretsDirectory, "One directory for each Secret");
  add_place(*command, "--config-maps", fetch.config_maps, kConfigMapsDirectory,
            "One directory for each ConfigMap");
  return command;
}

void add_push(CLI::App& app, PushOptions& push, std::string& results, std::string& pod) {
  auto* command = app.add_subcommand("push", "Put the results of a worker away, at its end and before");
  command->add_option("--results", results, "spec.results of the GpuJob, as JSON")->required();
  command->add_option("--job", push.names.job, "Name of the GpuJob");
  command->add_option("--namespace", push.names.ns, "Its namespace");
  command->add_option("--attempt", push.names.attempt, "The attempt, from 0");
  command->add_option("--rank", push.names.rank, "The rank of this worker");
  command->add_option("--pod-name", pod, "Name of the pod, which ends with its rank");
  command->add_option("--grace-seconds", push.grace_seconds, "Grace period of the pod");
  command->add_option("--report-bytes", push.report_bytes, "The most bytes of the report");
  add_place(*command, "--termination-log", push.termination_log, kTerminationLog, "Where the report goes");
  add_place(*command, "--work", push.work, api::kWorkDirectory, "The directory of the files");
  add_place(*command, "--launcher", push.launcher, kLauncherDirectory, "The directory of gpupool-launch");
  add_place(*command, "--claims", push.claims, kClaimsDirectory, "One directory for each claim");
  add_place(*command, "--secrets", push.secrets, kSecretsDirectory, "One directory for each Secret");
  command->add_flag("--hold", push.hold,
                    "Started again, wait before the end: the pod restarts its containers");
}

}  // namespace

std::variant<Command, int> parse_options(int argc, const char* const* argv) {
  CLI::App app("Brings files to the workers of a GpuJob, and takes their results.", "gpupool-carry");
  app.set_version_flag("--version", "gpupool-carry " GPUPOOL_VERSION);
  app.require_subcommand(1);
  FetchOptions fetch;
  std::string source;
  const auto* fetching = add_fetch(app, fetch, source);
  PushOptions push;
  std::string results;
  std::string pod;
  add_push(app, push, results, pod);
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
