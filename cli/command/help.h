// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "command/command.h"
#include "command/registry.h"

namespace gpupool::command {

// "kubectl gpupool list [POOL] [flags]".
std::string usage_line(const Command::Manual& manual, const Flags& flags);

// What --help prints for one command. flags: with the general ones.
std::string command_help(const Command::Manual& manual, const Flags& flags);

// What the program prints without a command.
std::string overview(const Registry& registry);

}  // namespace gpupool::command
