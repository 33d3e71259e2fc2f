// SPDX-License-Identifier: Apache-2.0
#include "launcher/env_command.h"

#include <unistd.h>

#include <optional>
#include <string_view>

#include "launcher/exec.h"
#include "launcher/file_io.h"
#include "launcher/log.h"
#include "launcher/path_search.h"
#include "launcher/result.h"
#include "launcher/stored_env.h"
#include "launcher/worker_env.h"

namespace gpupool::launcher {

Expected<EnvOptions> parse_env(const std::vector<std::string>& arguments) {
  constexpr std::string_view kStateDir = "--state-dir";
  EnvOptions options;
  std::size_t at = 0;
  for (; at < arguments.size() && arguments[at].starts_with("-"); ++at) {
    const std::string& argument = arguments[at];
    if (argument == "--") {
      ++at;
      break;
    }
    if (argument.starts_with(kStateDir) && argument.substr(kStateDir.size()).starts_with('=')) {
      options.state_dir = argument.substr(kStateDir.size() + 1);
    } else if (argument == kStateDir && at + 1 < arguments.size()) {
      options.state_dir = arguments[++at];
    } else {
      return failure("env: unknown flag " + argument);
    }
  }
  options.command.assign(arguments.begin() + static_cast<std::ptrdiff_t>(at), arguments.end());
  return options;
}

int run_env(const EnvOptions& options, const std::vector<std::string>& environment) {
  const std::optional<EnvironmentEntries> entries = read_env(options.state_dir);
  if (!entries) {
    log_line("no variables in " + options.state_dir +
             ": this is not the container of a worker, or its launcher has not started");
    return kExitLauncherError;
  }
  const std::vector<std::string> merged = merged_environment(environment, *entries);
  if (options.command.empty()) {
    std::string text;
    for (const std::string& variable : merged) text += variable + '\n';
    return write_all(STDOUT_FILENO, text) ? 0 : kExitLauncherError;
  }
  const std::string& command = options.command.front();
  const std::vector<std::string> candidates = path_candidates(command, std::string(search_path(merged)));
  const int error = exec_first(candidates, exec_array(options.command).data(), exec_array(merged).data());
  const ExecFailure failed = explain_exec(command, candidates, error);
  log_line(failed.message);
  return failed.exit_code;
}

}  // namespace gpupool::launcher
