#pragma once

#include <csignal>
#include <optional>

#include "launcher/deadline.h"
#include "launcher/signal_origin.h"
#include "launcher/unique_fd.h"

namespace gpupool::launcher {

// True for the signals with which somebody asks a program to end.
bool is_stop_signal(int signal);

struct ReceivedSignal {
  int number = 0;
  SignalSender sender;
};

// Takes over the process's signals: all but those that a fault raises are blocked and read from a descriptor.
// As PID 1 this matters twice: the kernel drops signals that PID 1 neither handles nor blocks. Construct
// once, before any thread is started. Not thread safe.
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
  UniqueFd fd_;
  sigset_t found_mask_{};
  struct sigaction found_child_{};
};

}  // namespace gpupool::launcher
