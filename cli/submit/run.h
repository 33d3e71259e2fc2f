// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "command/command.h"

namespace gpupool::submit {

std::unique_ptr<command::Command> make_run();

}  // namespace gpupool::submit
