// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace gpupool::base {

inline constexpr std::size_t kLeastKeyBytes = 32;

// The keys of a mounted Secret, by id: the name of a file is the id of a key (a-z, 0-9, '-' and '.', at most
// 63 characters), its content is the key. The last id in the order of bytes is the one to use for what is
// new. Other files are ignored. kIo if the folder cannot be read, kInvalidArgument if a key is shorter than
// kLeastKeyBytes or there is none.
Result<std::map<std::string, std::string>> read_keys(const std::string& folder);

}  // namespace gpupool::base
