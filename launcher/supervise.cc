// SPDX-License-Identifier: Apache-2.0
#include "launcher/supervise.h"

#include <algorithm>
#include <chrono>
#include <csignal>

#include "launcher/descendants.h"

namespace gpupool::launcher {
namespace {

using Clock = std::chrono::steady_clock;

// For processes that outlive the command by a moment, like the `tee` of a shell script.
constexpr std::chrono::milliseconds kLeftoverTime{250};

}  // namespace

void Supervisor::run(const std::function<void(const Ending&)>& ended) {
  wait_for_command();
  read_rest();
  ended(ending_);
  wait_for_group();
  kill_leftovers(command_);
  relay_.pump_ahead();
  write_rest();
}

void Supervisor::wait_for_command() {
  while (!command_ended_) {
    step(-1);
    relay_.pump();
  }
}

void Supervisor::read_rest() {
  const Clock::time_point deadline = Clock::now() + kLeftoverTime;
  for (;;) {
    relay_.pump_ahead();
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (relay_.all_read() || left <= 0) return;
    step(static_cast<int>(left));
  }
}

// After a stop signal the grace period belongs to all processes that got the signal: a shell may end at once
// while the training that it started still writes its checkpoint. Whoever sent the signal limits the wait.
void Supervisor::wait_for_group() {
  while (stop_signals_ > 0 && group_exists(command_)) {
    step(-1);
    relay_.pump();
  }
}

void Supervisor::write_rest() {
  const int stop_signals_before = stop_signals_;
  while (!relay_.all_written() && stop_signals_ == stop_signals_before) {
    step(-1);
    relay_.pump();
  }
}

void Supervisor::step(int timeout_ms) {
  std::vector<pollfd> events{{inbox_.fd(), POLLIN, 0}};
  relay_.add_to(events);
  metrics_.add_to(events);
  server_.add_to(events);
  ::poll(events.data(), events.size(), timeout_ms);
  metrics_.pump();
  server_.pump();
  while (const std::optional<ReceivedSignal> signal = inbox_.next()) take_signal(*signal);
}

void Supervisor::reap() {
  while (const std::optional<Reaped> reaped = reap_one()) {
    if (reaped->pid != command_) continue;
    command_ended_ = true;
    ending_.wait_status = reaped->status;
  }
}

void Supervisor::take_signal(const ReceivedSignal& received) {
  const int signal = received.number;
  if (signal == SIGCHLD) return reap();
  // The kernel raises these when we access the terminal or a broken pipe; nobody sent them.
  if (signal == SIGPIPE || signal == SIGTTIN || signal == SIGTTOU) return;
  if (is_stop_signal(signal)) {
    ++stop_signals_;
    if (!command_ended_ && sent_from_outside(received.sender)) ending_.stop_signal = signal;
  }
  // To the whole process group, as a terminal does: a shell would not pass the signal on.
  ::kill(-command_, signal);
}

}  // namespace gpupool::launcher
