// SPDX-License-Identifier: Apache-2.0
#include "launcher/signal_inbox.h"

#include <poll.h>
#include <sys/signalfd.h>

namespace gpupool::launcher {

bool is_stop_signal(int signal) {
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT;
}

SignalInbox::SignalInbox() {
  sigset_t taken;
  ::sigfillset(&taken);
  for (const int fault : {SIGILL, SIGABRT, SIGFPE, SIGSEGV, SIGBUS, SIGTRAP, SIGSYS})
    ::sigdelset(&taken, fault);
  ::pthread_sigmask(SIG_BLOCK, &taken, &found_mask_);
  // If SIGCHLD were ignored, the kernel would reap children and their exit status would be lost.
  struct sigaction action{};
  action.sa_handler = SIG_DFL;
  ::sigaction(SIGCHLD, &action, &found_child_);
  fd_ = base::UniqueFd(::signalfd(-1, &taken, SFD_NONBLOCK | SFD_CLOEXEC));
}

std::optional<ReceivedSignal> SignalInbox::next() {
  signalfd_siginfo info{};
  if (::read(fd_.get(), &info, sizeof info) != static_cast<ssize_t>(sizeof info)) return std::nullopt;
  return ReceivedSignal{static_cast<int>(info.ssi_signo), {info.ssi_code, static_cast<pid_t>(info.ssi_pid)}};
}

void SignalInbox::wait_for_stop(Clock::time_point deadline) {
  while (Clock::now() < deadline) {
    pollfd readable{fd_.get(), POLLIN, 0};
    ::poll(&readable, 1, milliseconds_until(deadline));
    while (const std::optional<ReceivedSignal> signal = next()) {
      if (is_stop_signal(signal->number)) return;
    }
  }
}

void SignalInbox::restore_for_exec() const {
  ::sigaction(SIGCHLD, &found_child_, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &found_mask_, nullptr);
}

}  // namespace gpupool::launcher
