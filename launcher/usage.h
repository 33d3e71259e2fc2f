// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace gpupool::launcher {

// Text of --help, and "gpupool-launch <version>". Both end in a newline.
std::string_view help_text();
std::string_view version_text();

}  // namespace gpupool::launcher
