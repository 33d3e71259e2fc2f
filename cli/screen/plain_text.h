// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpupool::screen {

// One line that a terminal shows as it is, of text that somebody else wrote: control characters (C0, DEL,
// C1), also line breaks and tabs, and the characters that turn the direction of writing become spaces; each
// byte that is not valid UTF-8 becomes U+FFFD.
std::string plain_text(std::string_view text);

// The same, but line breaks stay.
std::string plain_lines(std::string_view text);

// Number of characters (code points) of valid UTF-8.
std::size_t width(std::string_view text);

// The first `columns` characters; the last one is "…" if some are left out. columns >= 1.
std::string cut(std::string_view text, std::size_t columns);

}  // namespace gpupool::screen
