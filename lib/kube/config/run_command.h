// SPDX-License-Identifier: Apache-2.0
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
      {};  // added to this program's environment; replaces equal names
  std::chrono::milliseconds timeout = std::chrono::seconds(60);
  std::size_t max_output_bytes = std::size_t{1} << 20;
};

struct CommandResult {
  int exit_code = 0;  // 128 + n if signal n killed it
  std::string out;
  std::string err;  // the last 4 KiB
};

// Runs a program without a terminal and without this program's descriptors, and waits for its end on the
// calling thread. Then kills what the program has started. kNotFound: no such program. kTimeout; kCancelled
// (at once); kIo (also if the output is too large).
base::Result<CommandResult> run_command(const Command& command, std::stop_token stop);

}  // namespace gpupool::kube
