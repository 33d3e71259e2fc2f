// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpupool::launcher {

// What a person can read of a program's output: terminal escape sequences and control characters other than
// tab and newline are dropped, every byte that is not valid UTF-8 becomes U+FFFD.
std::string clean_text(std::string_view raw);

// The length of the valid UTF-8 character that `text` begins with; 0 when it does not begin with one.
std::size_t utf8_length(std::string_view text);

}  // namespace gpupool::launcher
