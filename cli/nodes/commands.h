// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "command/command.h"

// The commands about nodes and their GPUs. drain and undrain are in drain.cc.
namespace gpupool::nodes {

std::unique_ptr<command::Command> make_top();
std::unique_ptr<command::Command> make_drain();
std::unique_ptr<command::Command> make_undrain();

}  // namespace gpupool::nodes
