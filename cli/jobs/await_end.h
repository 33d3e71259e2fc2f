// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "command/command.h"

namespace gpupool::jobs {

struct AwaitOptions {
  std::string name;
  std::string uid = {};  // empty: whatever job has the name
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;
  bool quiet = false;
};

// Waits until a job has succeeded or failed, and tells each change on stderr, one line each. Returns its exit
// code (outcome_code), exit_code::kDeadline if the time is over first, or an error.
base::Result<int> await_end(command::Context& context, command::Session& session,
                            const AwaitOptions& options);

}  // namespace gpupool::jobs
