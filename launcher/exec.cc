// SPDX-License-Identifier: Apache-2.0
#include "launcher/exec.h"

#include <unistd.h>

#include <cerrno>

#include "launcher/expected.h"
#include "launcher/result.h"

namespace gpupool::launcher {

std::vector<char*> exec_array(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

int exec_first(const std::vector<std::string>& candidates, char* const* argv, char* const* envp) {
  int error = ENOENT;
  for (const std::string& candidate : candidates) {
    ::execve(candidate.c_str(), argv, envp);
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) return errno;
    if (errno == EACCES) error = EACCES;
  }
  return error;
}

ExecFailure explain_exec(const std::string& command, const std::vector<std::string>& candidates, int error) {
  if (error != ENOENT && error != ENOTDIR) {
    return {kExitNotExecutable, with_errno("cannot execute '" + command + "'", error)};
  }
  for (const std::string& candidate : candidates) {
    if (::access(candidate.c_str(), F_OK) == 0) {
      return {kExitNotExecutable,
              "cannot execute '" + command + "': its interpreter or loader is not in the image"};
    }
  }
  return {kExitNotFound, "command not found: '" + command + "'"};
}

}  // namespace gpupool::launcher
