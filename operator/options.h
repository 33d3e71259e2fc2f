#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/log.h"
#include "runtime/leader/election.h"

namespace gpupool {

struct ElectionOptions {
  bool enabled = false;
  std::string ns = {};  // empty: the pod's, or the kubeconfig's
  std::string name = "gpupool-operator";
  runtime::ElectionTimes times = {};
};

// Everything that can be told to gpupool-operator on its command line.
struct Options {
  std::string kubeconfig;
  std::string context;
  std::string metrics_bind_address = ":8080";
  std::string launcher_image = "gpupool.dev/launcher:dev";
  base::LogLevel log_level = base::LogLevel::kInfo;
  int workers = 4;
  double qps = 0;
  int burst = 1;
  int sync_timeout_seconds = 120;
  ElectionOptions election;
};

// An exit code where there is nothing to run: --help, --version (0) or a wrong flag (2, named on stderr).
std::variant<Options, int> parse_options(int argc, const char* const* argv);

}  // namespace gpupool
