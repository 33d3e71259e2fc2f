// SPDX-License-Identifier: Apache-2.0
#include "launcher/descendants.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <string>
#include <vector>

#include "launcher/file_io.h"

namespace gpupool::launcher {
namespace {

// Needs /proc; without it the end of the container ends them.
std::vector<pid_t> children() {
  const std::string file = "/proc/self/task/" + std::to_string(::getpid()) + "/children";
  const std::string text = read_file(file, std::size_t{1} << 20U).value_or("");
  std::vector<pid_t> pids;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    pid_t pid = 0;
    const auto [next, problem] = std::from_chars(at, end, pid);
    if (problem == std::errc() && pid > 0) pids.push_back(pid);
    at = next + 1;  // one space after each
  }
  return pids;
}

// 0 when there is no such process (any more), or its parent is outside the PID namespace.
pid_t parent_of(pid_t pid) {
  const std::string text = read_file("/proc/" + std::to_string(pid) + "/stat", 4096).value_or("");
  // "PID (NAME) STATE PARENT ...", and the name may hold anything.
  constexpr std::size_t kNameEndToParent = 4;
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + kNameEndToParent > text.size()) return 0;
  pid_t parent = 0;
  std::from_chars(text.data() + name_end + kNameEndToParent, text.data() + text.size(), parent);
  return parent;
}

}  // namespace

void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::optional<Reaped> reap_one() {
  Reaped reaped;
  do {
    reaped.pid = ::waitpid(-1, &reaped.status, WNOHANG);
  } while (reaped.pid < 0 && errno == EINTR);
  if (reaped.pid <= 0) return std::nullopt;
  return reaped;
}

bool group_exists(pid_t group) { return ::kill(-group, 0) == 0 || errno == EPERM; }

bool has_children() {
  siginfo_t info{};
  return ::waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

bool is_descendant(pid_t pid) {
  const pid_t self = ::getpid();
  while (pid > 0 && pid != self) pid = parent_of(pid);
  return pid == self;
}

void kill_leftovers(pid_t group) {
  ::kill(-group, SIGKILL);
  for (std::vector<pid_t> pids = children(); !pids.empty(); pids = children()) {
    for (const pid_t pid : pids) ::kill(pid, SIGKILL);
    for (const pid_t pid : pids) ::waitpid(pid, nullptr, 0);
  }
}

}  // namespace gpupool::launcher
