// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/log.h"
#include "runtime/leader/election.h"

namespace gpupool {

struct ElectionOptions {
  bool enabled = false;
  std::string ns = {};  // empty: the namespace of the pod or of the kubeconfig
  std::string name = "gpupool-operator";
  runtime::ElectionTimes times = {};
};

// The command line of gpupool-operator.
struct Options {
  std::string kubeconfig;
  std::string context;
  std::string metrics_bind_address = ":8080";
  std::string launcher_image = "gpupool.dev/launcher:dev";
  std::string carry_image = "gpupool.dev/carry:dev";
  std::string keeper_address;  // HOST:PORT; empty: no keeper
  std::string keeper_keys;     // folder
  bool ledger = false;         // gpupool-ledger keeps books (--ledger)
  base::LogLevel log_level = base::LogLevel::kInfo;
  int threads = 4;  // reconcile threads of GpuJob (--workers)
  double qps = 0;
  int burst = 1;
  int sync_timeout_seconds = 120;
  ElectionOptions election;
};

// Returns the exit code if there is nothing to run: 0 for --help and --version, 2 for a wrong flag (named on
// stderr).
std::variant<Options, int> parse_options(int argc, const char* const* argv);

}  // namespace gpupool
