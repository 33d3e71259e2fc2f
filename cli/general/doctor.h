// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "command/command.h"

namespace gpupool::general {

// own_version: of this program.
std::unique_ptr<command::Command> make_doctor(std::string own_version);

}  // namespace gpupool::general
