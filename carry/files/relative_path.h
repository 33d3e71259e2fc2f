// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "failure/failure.h"

namespace gpupool::carry {

inline constexpr std::string_view kPartSuffix = ".gpupool-part";

// Returns the parts of a path below a directory. Refused (kInvalid): an empty or absolute path, a part that
// is empty, ".", ".." or longer than 255 bytes, control characters, more than 2,048 bytes, a last part that
// ends with kPartSuffix. Pure.
Outcome<std::vector<std::string>> split_path(std::string_view path);

}  // namespace gpupool::carry
