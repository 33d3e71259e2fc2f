// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "command/command.h"
#include "command/registry.h"

namespace gpupool::general {

// What a shell should offer for the last of these words (without the program's name), in the form of cobra,
// which kubectl uses: a line each, then ":4" (nothing else) or ":0" (files too). Asks the server for names
// for at most 2 s, and offers nothing where that fails.
std::string completions(const command::Registry& registry, const std::vector<std::string>& words,
                        base::Clock& clock, std::unique_ptr<command::Session> session = nullptr);

// The command `completion`, which prints the script for a shell.
std::unique_ptr<command::Command> make_completion();

}  // namespace gpupool::general
