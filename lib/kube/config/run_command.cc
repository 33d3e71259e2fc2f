// SPDX-License-Identifier: Apache-2.0
#include "kube/config/run_command.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "kube/config/spawn.h"

namespace gpupool::kube {
namespace {

using base::ErrorCode;
using std::chrono::steady_clock;

constexpr std::size_t kKeptErrorBytes = 4096;

// Reads what is available now. False at the end of the pipe.
bool drain(int fd, std::string& into) {
  std::array<char, 16384> piece{};
  while (true) {
    const ssize_t got = ::read(fd, piece.data(), piece.size());
    if (got > 0) {
      into.append(piece.data(), static_cast<std::size_t>(got));
      if (got == static_cast<ssize_t>(piece.size()))
        return true;  // the caller checks the size before it reads more
      continue;
    }
    if (got == 0) return false;
    if (errno != EINTR) return errno == EAGAIN;
  }
}

// Returns a descriptor that becomes readable when the process ends. A system call, because glibc 2.36
// declares pidfd_open without C linkage.
int open_process(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

int poll_milliseconds(steady_clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 600'000));
}

class Run {
 public:
  Run(const Command& command, std::stop_token stop) : command_(command), stop_(std::move(stop)) {}
  // Kills and reaps the program and everything it started, whatever happened.
  ~Run() {
    if (child_.pid <= 0 || reaped_) return;
    ::kill(-child_.pid, SIGKILL);
    int status = 0;
    ::waitpid(child_.pid, &status, 0);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  base::Result<CommandResult> run() {
    auto child = spawn(command_.argv, command_.env);
    if (!child) return tl::unexpected<base::Error>(child.error());
    child_ = std::move(*child);
    exited_.reset(open_process(child_.pid));
    wake_.reset(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (exited_.get() < 0 || wake_.get() < 0) {
      return base::fail(ErrorCode::kIo, std::generic_category().message(errno));
    }
    const std::stop_callback on_stop(stop_, [this] { ::eventfd_write(wake_.get(), 1); });
    if (auto done = wait(); !done) return tl::unexpected<base::Error>(done.error());
    return finish();
  }

 private:
  base::Result<void> wait() {
    const auto deadline = steady_clock::now() + command_.timeout;
    while (true) {
      std::array<pollfd, 4> fds{pollfd{exited_.get(), POLLIN, 0}, pollfd{wake_.get(), POLLIN, 0},
                                pollfd{child_.out.get(), POLLIN, 0}, pollfd{child_.err.get(), POLLIN, 0}};
      const int ready = ::poll(fds.data(), fds.size(), poll_milliseconds(deadline));
      if (ready < 0 && errno != EINTR) {
        return base::fail(ErrorCode::kIo, std::generic_category().message(errno));
      }
      if (stop_.stop_requested()) return base::fail(ErrorCode::kCancelled, "cancelled");
      if (steady_clock::now() >= deadline) {
        return base::fail(ErrorCode::kTimeout,
                          "did not end within " + std::to_string(command_.timeout.count()) + " ms");
      }
      if (ready <= 0) continue;
      if (fds[2].revents != 0 && !drain(child_.out.get(), result_.out)) child_.out.reset();
      if (fds[3].revents != 0 && !drain(child_.err.get(), result_.err)) child_.err.reset();
      if (auto ok = check_output(); !ok) return ok;
      if (fds[0].revents != 0) return {};
    }
  }

  base::Result<void> check_output() {
    if (result_.err.size() > kKeptErrorBytes) result_.err.erase(0, result_.err.size() - kKeptErrorBytes);
    if (result_.out.size() <= command_.max_output_bytes) return {};
    return base::fail(ErrorCode::kIo,
                      "wrote more than " + std::to_string(command_.max_output_bytes) + " bytes");
  }

  base::Result<CommandResult> finish() {
    // A pipe holds at most 64 KiB. More comes only from a child of the program that is still running.
    for (int i = 0; i < 8 && child_.out.get() >= 0 && drain(child_.out.get(), result_.out); ++i) {
    }
    if (child_.err.get() >= 0) drain(child_.err.get(), result_.err);
    if (auto ok = check_output(); !ok) return tl::unexpected<base::Error>(ok.error());
    // The group must be killed before the process is reaped; afterwards its number may belong to another
    // process.
    ::kill(-child_.pid, SIGKILL);
    int status = 0;
    if (::waitpid(child_.pid, &status, 0) != child_.pid) {
      return base::fail(ErrorCode::kIo, std::generic_category().message(errno));
    }
    reaped_ = true;
    result_.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return std::move(result_);
  }

  const Command& command_;
  const std::stop_token stop_;
  Child child_;
  base::UniqueFd exited_;
  base::UniqueFd wake_;
  bool reaped_ = false;
  CommandResult result_;
};

}  // namespace

base::Result<CommandResult> run_command(const Command& command, std::stop_token stop) {
  return Run(command, std::move(stop)).run();
}

}  // namespace gpupool::kube
