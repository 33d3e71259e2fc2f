// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "launcher/expected.h"

namespace gpupool::launcher {

// Makes sure that the command can save its work in the directory `path`: makes it and those above it where
// they are missing, and asks the kernel whether this user may write there. Leaves nothing else behind. The
// error names the path, the user and the cause.
Expected<void> prepare_checkpoint_dir(const std::string& path);

}  // namespace gpupool::launcher
