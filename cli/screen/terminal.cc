// SPDX-License-Identifier: Apache-2.0
#include "screen/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <array>

#include "kube/config/environment.h"

namespace gpupool::screen {
namespace {

constexpr std::string_view kReset = "\x1b[0m";

std::string_view begin_of(Colour colour) {
  static constexpr std::array<std::string_view, 9> kCodes{
      "", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[34m", "\x1b[35m", "\x1b[36m", "\x1b[2m", "\x1b[1m"};
  return kCodes.at(static_cast<std::size_t>(colour));
}

}  // namespace

Terminal terminal_of(int descriptor) {
  if (isatty(descriptor) == 0) return {};
  Terminal terminal{.live = kube::environment("TERM") != "dumb", .columns = 80, .rows = 24};
  terminal.colour = terminal.live && kube::environment("NO_COLOR").empty();
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    terminal.columns = size.ws_col;
    if (size.ws_row > 0) terminal.rows = size.ws_row;
  }
  return terminal;
}

std::string painted(std::string_view text, Colour colour, const Terminal& terminal) {
  if (!terminal.colour || colour == Colour::kNone || text.empty()) return std::string(text);
  return std::string(begin_of(colour)) + std::string(text) + std::string(kReset);
}

}  // namespace gpupool::screen
