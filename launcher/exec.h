// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace gpupool::launcher {

// Why a command does not run: the exit code a shell would give, and a sentence.
struct ExecFailure {
  int exit_code = 0;
  std::string message;
};

// Arrays for execve. They point into `texts`, which must outlive them.
std::vector<char*> exec_array(const std::vector<std::string>& texts);

// Replaces this process by the first of `candidates` (see path_candidates) that can be executed; returns an
// errno value when none can. Like execvp, except that a file the kernel does not know is an error and not a
// shell script, as in a container. Makes system calls only, so it may be called after vfork().
int exec_first(const std::vector<std::string>& candidates, char* const* argv, char* const* envp);

// What a person should know about an error of exec_first().
ExecFailure explain_exec(const std::string& command, const std::vector<std::string>& candidates, int error);

}  // namespace gpupool::launcher
