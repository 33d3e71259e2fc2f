// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"

namespace gpupool::base {

inline constexpr std::size_t kMiB = std::size_t{1} << 20;

// The whole file. kIo, with the path and the cause, if it cannot be read, is a directory or is larger than
// `max_bytes` (a multiple of 1 MiB).
Result<std::string> read_file(const std::string& path, std::size_t max_bytes = 16 * kMiB);

// The text without white space at both ends: tokens and names stand in files with a line break after them.
std::string trimmed(const std::string& text);

}  // namespace gpupool::base
