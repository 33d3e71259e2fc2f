// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <variant>
#include <vector>

#include "launcher/exec.h"
#include "launcher/signal_inbox.h"

namespace gpupool::launcher {

struct SpawnRequest {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // "NAME=value"
  std::string search_path;               // PATH
  int stdout_fd = 1;
  int stderr_fd = 2;
};

// Starts the command in a process group of its own; it is killed when the launcher dies. Returns its process
// id once the program has been loaded. Call from the main thread: the kernel ties the death signal to the
// calling thread.
std::variant<pid_t, ExecFailure> spawn(const SpawnRequest& request, const SignalInbox& inbox);

}  // namespace gpupool::launcher
