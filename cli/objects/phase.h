// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "screen/terminal.h"

namespace gpupool::objects {

// All phases of a GpuJob, in the order of its life.
const std::vector<std::string>& all_phases();

screen::Colour colour_of_phase(std::string_view phase);

}  // namespace gpupool::objects
