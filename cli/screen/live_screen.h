// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <string>

#include "screen/terminal.h"

namespace gpupool::screen {

// The terminal's other screen, on which a text is drawn again and again. At its end the terminal shows what
// it showed before. Not thread-safe.
class LiveScreen {
 public:
  explicit LiveScreen(std::ostream& out);
  ~LiveScreen();
  LiveScreen(const LiveScreen&) = delete;
  LiveScreen& operator=(const LiveScreen&) = delete;

  // Shows the first lines of the text that fit; the last line says how many do not. Lines are cut at the
  // right edge by the terminal.
  void draw(const std::string& text, const Terminal& terminal);

 private:
  std::ostream& out_;
};

// What LiveScreen::draw writes. Pure.
std::string frame(const std::string& text, std::size_t rows);

// The terminal with the size that its window has now.
Terminal size_now(Terminal terminal);

}  // namespace gpupool::screen
