// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "failure/failure.h"

namespace gpupool::carry::s3 {

// The SHA-256 in hex of the file `path` below the directory `root`, if it is a regular file of `size` bytes;
// else nullopt. Missing directories of the path are made, and a link among them is refused (kInvalid).
Outcome<std::optional<std::string>> complete_file(int root, const std::string& path, std::int64_t size,
                                                  const std::stop_token& stop);

}  // namespace gpupool::carry::s3
