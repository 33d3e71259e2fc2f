// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpupool::screen {

// What the output is written to.
struct Terminal {
  bool live = false;        // a terminal, where a screen may be drawn again in place
  bool colour = false;      // ANSI colours
  std::size_t columns = 0;  // 0: no limit, as in a file
  std::size_t rows = 0;     // 0: unknown
};

// Of a file descriptor. Colours only on a terminal, and not with NO_COLOR set or TERM=dumb.
Terminal terminal_of(int descriptor);

enum class Colour { kNone, kRed, kGreen, kYellow, kBlue, kMagenta, kCyan, kFaint, kBold };

// The text, in this colour where the terminal has colours.
std::string painted(std::string_view text, Colour colour, const Terminal& terminal);

}  // namespace gpupool::screen
