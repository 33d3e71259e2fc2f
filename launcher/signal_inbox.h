// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>
#include <optional>

#include "base/unique_fd.h"
#include "launcher/deadline.h"
#include "launcher/signal_origin.h"

namespace gpupool::launcher {

// True for the signals with which somebody asks a program to end.
bool is_stop_signal(int signal);

struct ReceivedSignal {
  int number = 0;
  SignalSender sender;
};

// Takes over the signals of the process: all but those that a fault raises are blocked and read from a
// descriptor. This matters doubly for PID 1: the kernel drops signals that PID 1 neither handles nor blocks.
// Not thread-safe.
//
// REQUIRES: constructed once, before any other thread is started.
class SignalInbox {
 public:
  SignalInbox();

  // Becomes readable when a signal waits.
  [[nodiscard]] int fd() const { return fd_.get(); }

  // Takes the next waiting signal, never blocks.
  std::optional<ReceivedSignal> next();

  // Blocks until a stop signal comes, or until `deadline`; other signals are dropped.
  void wait_for_stop(Clock::time_point deadline);

  // In the child, just before exec: signals as the launcher itself found them. Async-signal-safe.
  void restore_for_exec() const;

 private:
  base::UniqueFd fd_;
  sigset_t found_mask_{};
  struct sigaction found_child_{};
};

}  // namespace gpupool::launcher
