// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "command/command.h"

namespace gpupool::logs {

inline constexpr std::int64_t kMaxStreams = 200;  // if nothing else is asked for

// What a person asks for; docs/cli.md, section Logs.
struct ShowOptions {
  std::string job;          // name
  std::string uid = {};     // of the job; empty: the one that has the name, or had it last
  bool stored = false;      // from the keeper, also where there are pods
  std::string keeper = {};  // NAMESPACE/SERVICE; empty: that of the chart
  bool follow = false;
  std::string ranks = {};  // as 0,3-7; empty: rank 0 and those that have failed
  bool all = false;
  std::optional<std::int64_t> attempt = std::nullopt;
  bool all_attempts = false;
  std::optional<std::chrono::milliseconds> since = std::nullopt;
  std::optional<std::int64_t> tail = std::nullopt;
  std::string grep = {};
  bool timestamps = false;
  bool raw = false;
  bool exit = false;  // with follow: the exit code is that of the job
  std::optional<std::int64_t> max_streams = std::nullopt;
};

// Prints the logs of a job's workers. Returns the exit code. kInvalidArgument: options that do not fit
// together; nothing was sent to the server then.
base::Result<int> show_logs(const ShowOptions& options, command::Context& context);

}  // namespace gpupool::logs
