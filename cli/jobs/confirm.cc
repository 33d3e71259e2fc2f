// SPDX-License-Identifier: Apache-2.0
#include "jobs/confirm.h"

#include <poll.h>
#include <unistd.h>

#include <iostream>

namespace gpupool::jobs {
namespace {

constexpr int kPollMs = 100;

// False if Ctrl-C came first: reading a line would wait on.
bool is_answered(const command::Context& context) {
  if (&context.in != &std::cin) return true;
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  while (!context.stop.stop_requested()) {
    if (poll(&input, 1, kPollMs) != 0) return true;
  }
  return false;
}

}  // namespace

bool confirmed(command::Context& context, const std::string& question) {
  if (!context.asks) return true;
  context.err << question << " [y/N] " << std::flush;
  std::string answer;
  if (is_answered(context)) std::getline(context.in, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return true;
  context.err << "Nothing was changed.\n";
  return false;
}

}  // namespace gpupool::jobs
