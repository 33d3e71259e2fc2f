// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "command/command.h"

namespace gpupool::results {

std::unique_ptr<command::Command> make_results();

}  // namespace gpupool::results
