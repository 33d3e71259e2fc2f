// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>

#include "base/log.h"
#include "settings/load.h"

namespace gpupool {

// Everything that can be told to gpupool-device-plugin on its command line.
struct Options {
  std::string config;
  std::string node_name;
  std::string kubelet_directory = "/var/lib/kubelet";
  std::string state_directory = "/var/lib/gpupool";
  std::string nvml_library = "libnvidia-ml.so.1";
  std::string limiter_directory;
  std::string regions_directory = "/run/gpupool/regions";
  std::string install_limiter;
  std::string metrics_bind_address = ":8080";
  std::string kubeconfig;
  bool report = true;
  base::LogLevel log_level = base::LogLevel::kInfo;
  settings::Given given;
};

// An exit code where there is nothing to run: --help, --version (0) or a wrong flag or environment variable
// (2, named on stderr).
std::variant<Options, int> parse_options(int argc, const char* const* argv);

}  // namespace gpupool
