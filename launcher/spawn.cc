#include "launcher/spawn.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "launcher/expected.h"
#include "launcher/path_search.h"
#include "launcher/result.h"
#include "launcher/unique_fd.h"

namespace gpupool::launcher {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (const std::string& text : texts) out.push_back(const_cast<char*>(text.c_str()));
  out.push_back(nullptr);
  return out;
}

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

// Like execvp, except that a file the kernel does not know is an error and not a shell script, as in a
// container.
int try_candidates(const ChildPlan& plan) {
  int error = ENOENT;
  for (const std::string& candidate : plan.candidates) {
    ::execve(candidate.c_str(), plan.argv.data(), plan.envp.data());
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) return errno;
    if (errno == EACCES) error = EACCES;
  }
  return error;
}

[[noreturn]] void run_child(const ChildPlan& plan, const SignalInbox& inbox) {
  ::setpgid(0, 0);
  // With a terminal as stdin only the foreground group may read it. SIGTTOU is still blocked here.
  if (::isatty(STDIN_FILENO) != 0) ::tcsetpgrp(STDIN_FILENO, ::getpid());
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(kExitLauncherError);
  ::dup2(plan.stdout_fd, STDOUT_FILENO);
  ::dup2(plan.stderr_fd, STDERR_FILENO);
  inbox.restore_for_exec();
  const int error = try_candidates(plan);
  (void)!::write(plan.report_fd, &error, sizeof error);
  ::_exit(kExitLauncherError);
}

SpawnFailure explain(const std::string& command, const std::vector<std::string>& candidates, int error) {
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

}  // namespace

std::variant<pid_t, SpawnFailure> spawn(const SpawnRequest& request, const SignalInbox& inbox) {
  int report[2] = {-1, -1};
  if (::pipe2(report, O_CLOEXEC) != 0) return SpawnFailure{kExitLauncherError, with_errno("pipe", errno)};
  const UniqueFd report_read(report[0]);
  UniqueFd report_write(report[1]);
  const std::string& command = request.command.front();
  const ChildPlan plan{path_candidates(command, request.search_path),
                       pointers(request.command),
                       pointers(request.environment),
                       request.stdout_fd,
                       request.stderr_fd,
                       report_write.get(),
                       ::getpid()};
  // Shares memory with us until exec: nothing is copied. run_child() makes system calls only, and no handler
  // can run in it, since this program installs none.
  const pid_t child = ::vfork();  // NOLINT(bugprone-unsafe-functions)
  if (child < 0) return SpawnFailure{kExitLauncherError, with_errno("cannot start a process", errno)};
  if (child == 0) run_child(plan, inbox);
  report_write.reset();
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(report_read.get(), &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof error)) return child;
  ::waitpid(child, nullptr, 0);
  return explain(command, plan.candidates, error);
}

}  // namespace gpupool::launcher
