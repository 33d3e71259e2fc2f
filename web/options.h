// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace gpupool {

struct Options {
  std::string bind_address = ":8443";
  std::string health_bind_address = ":8081";
  std::string tls_directory = "/etc/gpupool/tls";
  std::string api_server;  // empty: that of the pod's environment
  std::string api_ca = "/etc/gpupool/api/ca.crt";
  std::string keeper;     // URL; empty: there is none
  std::string keeper_ca;  // file
  std::string ledger;     // URL; empty: there is none
  std::string ledger_ca;  // file
  std::vector<std::string> hosts;
  std::string mode = "token";
  std::string ns = "default";
  int tabs = 200;
  std::string log_level = "info";
};

// The options, or the code with which the program ends at once (after --help, or a mistake that it has
// printed).
std::variant<Options, int> read_options(int argc, char** argv);

}  // namespace gpupool
