// SPDX-License-Identifier: Apache-2.0
#include "launcher/spawn.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"
#include "launcher/expected.h"
#include "launcher/path_search.h"
#include "launcher/result.h"

namespace gpupool::launcher {
namespace {

// Everything the child needs, made before vfork: nothing is allocated or changed after it.
struct ChildPlan {
  std::vector<std::string> candidates;
  std::vector<char*> argv;
  std::vector<char*> envp;
  int stdout_fd;
  int stderr_fd;
  int report_fd;
  pid_t parent;
};

[[noreturn]] void run_child(const ChildPlan& plan, const SignalInbox& inbox) {
  ::setpgid(0, 0);
  // With a terminal as stdin only the foreground group may read it. SIGTTOU is still blocked here.
  if (::isatty(STDIN_FILENO) != 0) ::tcsetpgrp(STDIN_FILENO, ::getpid());
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(kExitLauncherError);
  ::dup2(plan.stdout_fd, STDOUT_FILENO);
  ::dup2(plan.stderr_fd, STDERR_FILENO);
  inbox.restore_for_exec();
  const int error = exec_first(plan.candidates, plan.argv.data(), plan.envp.data());
  (void)!::write(plan.report_fd, &error, sizeof error);
  ::_exit(kExitLauncherError);
}

}  // namespace

std::variant<pid_t, ExecFailure> spawn(const SpawnRequest& request, const SignalInbox& inbox) {
  int report[2] = {-1, -1};
  if (::pipe2(report, O_CLOEXEC) != 0) return ExecFailure{kExitLauncherError, with_errno("pipe", errno)};
  const base::UniqueFd report_read(report[0]);
  base::UniqueFd report_write(report[1]);
  const std::string& command = request.command.front();
  const ChildPlan plan{path_candidates(command, request.search_path),
                       exec_array(request.command),
                       exec_array(request.environment),
                       request.stdout_fd,
                       request.stderr_fd,
                       report_write.get(),
                       ::getpid()};
  // Shares memory with us until exec: nothing is copied. run_child() makes system calls only, and no handler
  // can run in it, since this program installs none.
  const pid_t child = ::vfork();  // NOLINT(bugprone-unsafe-functions)
  if (child < 0) return ExecFailure{kExitLauncherError, with_errno("cannot start a process", errno)};
  if (child == 0) run_child(plan, inbox);
  report_write.reset();
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(report_read.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof error)) return child;
  ::waitpid(child, nullptr, 0);
  return explain_exec(command, plan.candidates, error);
}

}  // namespace gpupool::launcher
