#pragma once

#include <sys/types.h>

#include <string>
#include <variant>
#include <vector>

#include "launcher/signal_inbox.h"

namespace gpupool::launcher {

struct SpawnRequest {
  std::vector<std::string> command;
  std::vector<std::string> environment;  // "NAME=value"
  std::string search_path;               // PATH
  int stdout_fd = 1;
  int stderr_fd = 2;
};

// Why the command does not run: the exit code a shell would give, and a sentence.
struct SpawnFailure {
  int exit_code = 0;
  std::string message;
};

// Starts the command in a process group of its own; it is killed when the launcher dies. Returns its process
// id once the program has been loaded. Call from the main thread: the kernel ties the death signal to the
// calling thread.
std::variant<pid_t, SpawnFailure> spawn(const SpawnRequest& request, const SignalInbox& inbox);

}  // namespace gpupool::launcher
