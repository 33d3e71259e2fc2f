#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gpupool::kube {

struct Command {
  std::vector<std::string> argv;  // argv[0] is looked up in PATH unless it has a slash
  std::vector<std::pair<std::string, std::string>> env =
      {};  // added to our own environment, or replacing parts of it
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
  std::size_t max_output_bytes = std::size_t{1} << 20;
};

struct CommandResult {
  int exit_code = 0;  // 128 + n: killed by signal n
  std::string out;
  std::string err;  // its last 4 KiB
};

// Runs a program without a terminal and with no descriptor of ours, and waits for its end; what it started
// itself is killed with it. kNotFound: there is no such program. kTimeout, kCancelled (at once), kIo (also:
// it wrote more than allowed).
base::Result<CommandResult> run_command(const Command& command, std::stop_token stop);

}  // namespace gpupool::kube
