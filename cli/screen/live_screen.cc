// SPDX-License-Identifier: Apache-2.0
#include "screen/live_screen.h"

#include <unistd.h>

#include <algorithm>

namespace gpupool::screen {
namespace {

// Other screen, no cursor, no wrapping of long lines; and back.
constexpr char kBegin[] = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr char kEnd[] = "\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr char kHome[] = "\x1b[H";
constexpr char kRestOfLine[] = "\x1b[K";
constexpr char kRestOfScreen[] = "\x1b[J";

}  // namespace

LiveScreen::LiveScreen(std::ostream& out) : out_(out) { out_ << kBegin << std::flush; }

LiveScreen::~LiveScreen() { out_ << kEnd << std::flush; }

std::string frame(const std::string& text, std::size_t rows) {
  const auto lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  const bool fits = lines < rows;
  const std::size_t shown = fits || rows < 2 ? lines : rows - 2;
  std::string all = kHome;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    const auto end = text.find('\n', begin);
    all += text.substr(begin, end - begin) + kRestOfLine + "\r\n";
    begin = end + 1;
  }
  if (!fits) all += "... " + std::to_string(lines - shown) + " more lines" + kRestOfLine;
  return all + kRestOfScreen;
}

void LiveScreen::draw(const std::string& text, const Terminal& terminal) {
  out_ << frame(text, terminal.rows) << std::flush;
}

Terminal size_now(Terminal terminal) {
  const Terminal now = terminal_of(STDOUT_FILENO);
  if (now.columns > 0) {
    terminal.columns = now.columns;
    terminal.rows = now.rows;
  }
  return terminal;
}

}  // namespace gpupool::screen
