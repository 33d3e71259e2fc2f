// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace gpupool::launcher {

// Writes "gpupool-launch: <line>\n" to stderr in one write. Only for what the user must know: stderr belongs
// to the command.
void log_line(std::string_view line);

}  // namespace gpupool::launcher
