// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "failure/failure.h"

namespace gpupool::carry {

// Modes of what the worker gets: its user may be any, and may write.
inline constexpr int kFileMode = 0666;
inline constexpr int kProgramMode = 0777;
inline constexpr int kDirectoryMode = 0777;

Outcome<base::UniqueFd> open_directory(const std::string& path);

// Opens the directory of the parts below `root`, and makes those that are missing, with kDirectoryMode. A
// symbolic link or a file among them is refused (kInvalid), so nothing outside `root` is ever reached.
Outcome<base::UniqueFd> make_directories(int root, const std::vector<std::string>& parts);

}  // namespace gpupool::carry
