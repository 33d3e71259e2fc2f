// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace gpupool::launcher {

struct NumberInText {
  double value = 0;
  std::string_view rest;  // what follows it
};

// Reads the number at the start of a text, after spaces: as std::from_chars does, also with a leading +, also
// nan and inf; % behind it divides by 100. Nothing if there is none, or if a letter, digit, _ or .digit
// follows. A number too large for a double is infinite.
std::optional<NumberInText> read_number(std::string_view text);

}  // namespace gpupool::launcher
