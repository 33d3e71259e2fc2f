// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "launcher/env_command.h"
#include "launcher/file_io.h"
#include "launcher/install.h"
#include "launcher/log.h"
#include "launcher/options.h"
#include "launcher/result.h"
#include "launcher/run.h"
#include "launcher/usage.h"

namespace gpupool::launcher {
namespace {

constexpr int kExitInstallFailed = 1;

// Makes sure that 0, 1 and 2 are open, so that no later descriptor is taken for a standard stream.
void fill_standard_descriptors() {
  int fd = 0;
  do {
    fd = ::open("/dev/null", O_RDWR);
    if (fd < 0) fd = ::open("/", O_RDONLY);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) ::close(fd);
}

int usage_error(const std::string& problem) {
  log_line(problem + " (see gpupool-launch --help)");
  return kExitUsage;
}

int print(std::string_view text) { return write_all(STDOUT_FILENO, text) ? 0 : 1; }

// The environment is the command's. Nothing here depends on it, nor does the C library when it looks up names
// (LOCALDOMAIN, RES_OPTIONS).
std::vector<std::string> take_environment() {
  std::vector<std::string> taken;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    taken.emplace_back(*variable);
  }
  environ = nullptr;
  return taken;
}

int run_main(const std::vector<std::string>& arguments) {
  const std::vector<std::string> environment = take_environment();
  const Expected<Options> options = parse_run(arguments);
  if (options) return run(*options, environment);
  report_unusable(report_options(arguments), options.error());
  return usage_error(options.error());
}

int env_main(const std::vector<std::string>& arguments) {
  const std::vector<std::string> environment = take_environment();
  const Expected<EnvOptions> options = parse_env(arguments);
  return options ? run_env(*options, environment) : usage_error(options.error());
}

int install_main(const std::vector<std::string>& arguments) {
  if (arguments.size() != 1) return usage_error("install: takes one directory");
  const Expected<void> installed = install_into(arguments.front());
  if (installed) return 0;
  log_line(installed.error());
  return kExitInstallFailed;
}

int dispatch(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return usage_error("needs run, env, install, --help or --version");
  const std::string& verb = arguments.front();
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  const bool asks_help = verb == "--help" || verb == "-h" || (!rest.empty() && rest.front() == "--help");
  if (asks_help) return print(help_text());
  if (verb == "--version") return print(version_text());
  if (verb == "run") return run_main(rest);
  if (verb == "env") return env_main(rest);
  if (verb == "install") return install_main(rest);
  return usage_error((verb.starts_with("-") ? "unknown flag " : "unknown command ") + verb);
}

}  // namespace
}  // namespace gpupool::launcher

int main(int argc, char** argv) {
  gpupool::launcher::fill_standard_descriptors();
  return gpupool::launcher::dispatch(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
