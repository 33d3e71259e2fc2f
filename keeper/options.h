// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>

#include "ingest/writer_server.h"
#include "store/attempts.h"

namespace gpupool {

// The command line of gpupool-keeper.
struct Options {
  std::string writers_bind_address = ":7070";
  std::string readers_bind_address = ":7071";
  std::string health_bind_address = ":8080";
  std::string data = "/data";
  std::string keys = "/etc/gpupool/keeper-keys";
  std::string tls_directory = "/etc/gpupool/tls";
  std::string kubeconfig;
  std::string log_level = "info";
  int readers = 64;
  int access_cache_seconds = 30;
  keeper::IngestOptions ingest = {};
  keeper::Limits limits = {};
};

// Returns the exit code if there is nothing to run: 0 for --help and --version, 2 for a wrong flag (named on
// stderr).
std::variant<Options, int> read_options(int argc, char** argv);

}  // namespace gpupool
