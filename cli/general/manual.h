// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "command/command.h"

namespace gpupool::general {

// The hidden command that prints the manual page (man 1) of the program and all its commands. The build calls
// it.
std::unique_ptr<command::Command> make_manual(std::string own_version);

}  // namespace gpupool::general
