// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace gpupool::carry {

// The path of an entry as split_path wants it: without one "./" at its beginning and, of a directory, one "/"
// at its end. Empty: the directory of all entries. Pure.
std::string entry_path(std::string_view name, bool directory);

// Text of an archive for a message: at most 200 bytes, with '?' for control characters. Pure.
std::string shown(std::string_view text);

}  // namespace gpupool::carry
