// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>

#include "fetch/fetch_command.h"
#include "push/push_command.h"

namespace gpupool::carry {

using Command = std::variant<FetchOptions, PushOptions>;

// Returns the command with its options, or the exit code if there is nothing to run.
std::variant<Command, int> parse_options(int argc, const char* const* argv);

}  // namespace gpupool::carry
