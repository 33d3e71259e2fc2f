// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <CLI/CLI.hpp>
#include <cstdint>

namespace gpupool {
namespace {

constexpr int kUsageError = 2;
constexpr int kMostReaders = 1000;
constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr int kMostCacheSeconds = 600;
constexpr int kMostDays = 3650;
constexpr int kHoursOfDay = 24;

}  // namespace

std::variant<Options, int> read_options(int argc, char** argv) {
  Options options;
  std::uint64_t rank_kib = static_cast<std::uint64_t>(options.ingest.rate.bytes_per_second) / kKiB;
  std::uint64_t burst_mib = static_cast<std::uint64_t>(options.ingest.rate.burst) / kMiB;
  std::uint64_t job_mib = options.limits.job_bytes / kMiB;
  std::uint64_t namespace_mib = options.limits.namespace_bytes / kMiB;
  std::uint64_t total_mib = options.limits.total_bytes / kMiB;
  int days = static_cast<int>(options.limits.retention.count()) / kHoursOfDay;
  CLI::App app("Stores what the workers of GpuJobs print, so that it stays when their pods are gone.",
               "gpupool-keeper");
  app.set_version_flag("--version", GPUPOOL_VERSION);
  const auto text = [&](const char* name, std::string& value, const char* help) {
    app.add_option(name, value, help)->capture_default_str();
  };
  const auto number = [&](const char* name, std::uint64_t& value, const char* help) {
    app.add_option(name, value, help)
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
        ->capture_default_str();
  };
  text("--writers-bind-address", options.writers_bind_address, "HOST:PORT for launchers, plain TCP");
  text("--readers-bind-address", options.readers_bind_address, "HOST:PORT for who reads logs, by TLS only");
  text("--health-bind-address", options.health_bind_address, "HOST:PORT of /healthz, /readyz and /metrics");
  text("--data-directory", options.data, "Where logs are stored");
  text("--keys-directory", options.keys,
       "Holds the keys of which workers' tokens are made; read again every 10 s");
  text("--tls-directory", options.tls_directory, "Holds tls.crt and tls.key; read again when they change");
  text("--kubeconfig", options.kubeconfig, "Default: the pod's service account");
  number("--rank-kib-per-second", rank_kib,
         "What is read of one rank; beyond that its launcher drops output");
  number("--rank-burst-mib", burst_mib, "What is read of one rank at once");
  number("--job-mib", job_mib, "Stored of one job, compressed; beyond that output is lost");
  number("--namespace-mib", namespace_mib, "Stored of one namespace; the oldest ended attempts go first");
  number("--total-mib", total_mib, "Stored in all; the oldest ended attempts go first");
  app.add_option("--retention-days", days, "How long a log is kept after its attempt has ended")
      ->check(CLI::Range(1, kMostDays))
      ->capture_default_str();
  app.add_option("--readers", options.readers, "Connections of readers at a time")
      ->check(CLI::Range(1, kMostReaders))
      ->capture_default_str();
  app.add_option("--access-cache-seconds", options.access_cache_seconds,
                 "For how long a reader's right counts before the API server is asked again")
      ->check(CLI::Range(1, kMostCacheSeconds))
      ->capture_default_str();
  text("--log-level", options.log_level, "debug, info, warning or error");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageError;
  }
  options.ingest.bind = options.writers_bind_address;
  options.ingest.data = options.data;
  options.ingest.rate = {static_cast<double>(rank_kib * kKiB), static_cast<double>(burst_mib * kMiB)};
  options.limits.job_bytes = job_mib * kMiB;
  options.limits.namespace_bytes = namespace_mib * kMiB;
  options.limits.total_bytes = total_mib * kMiB;
  options.limits.retention = std::chrono::hours(days * kHoursOfDay);
  return options;
}

}  // namespace gpupool
