// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "command/command.h"

namespace gpupool::page {

std::unique_ptr<command::Command> make_web(const std::string& version);

}  // namespace gpupool::page
