// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "command/command.h"

// The command about GpuSweeps.
namespace gpupool::sweeps {

std::unique_ptr<command::Command> make_sweep();

}  // namespace gpupool::sweeps
