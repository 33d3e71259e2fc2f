// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "base/unique_fd.h"
#include "failure/failure.h"

namespace gpupool::carry {

// Opens a regular file below the directory fd `root` for reading. A symbolic link anywhere on the way is
// refused (kInvalid), so that nothing outside `root` is read. kNotFound if there is nothing.
Outcome<base::UniqueFd> open_below(int root, std::string_view path);

}  // namespace gpupool::carry
