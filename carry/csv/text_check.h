// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace gpupool::carry::csv {

// Returns how many bytes at the beginning are whole UTF-8 characters other than NUL; fewer than all of them
// where one is wrong or cut off at the end. Pure.
std::size_t good_text(std::string_view bytes);

// Whether the bytes are the beginning of a UTF-8 character that is cut off. Pure.
bool is_cut_off(std::string_view bytes);

}  // namespace gpupool::carry::csv
