// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "command/command.h"

namespace gpupool::jobs {

// Asks a question that is answered with y or n. True without a question if nobody is there to answer it.
bool confirmed(command::Context& context, const std::string& question);

}  // namespace gpupool::jobs
