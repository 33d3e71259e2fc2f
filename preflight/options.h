// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <variant>
#include <vector>

namespace gpupool::preflight {

// Everything that can be told to gpupool-preflight on its command line.
struct Options {
  std::string root = "/";
  std::string kubeconfig;
  std::string server;
  std::string pool;
  std::vector<std::string> models;
  std::string min_memory;
  std::string nvml_library;  // empty: the machine's
  std::string node_name;     // empty: the host name
  std::string kubelet_directory = "/var/lib/kubelet";
  std::set<std::string> checks;  // to be made
  bool json = false;
};

// An exit code where there is nothing to do: --help, --version (0) or a wrong flag (2, named on stderr).
std::variant<Options, int> parse_options(int argc, const char* const* argv);

}  // namespace gpupool::preflight
