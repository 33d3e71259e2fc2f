// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "launcher/expected.h"

namespace gpupool::launcher {

// Copies the running program to `directory`/gpupool-launch, mode 0755, atomically: whoever looks sees the
// whole file or none.
Expected<void> install_into(const std::string& directory);

}  // namespace gpupool::launcher
