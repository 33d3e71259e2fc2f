// SPDX-License-Identifier: Apache-2.0
#include "launcher/supervise.h"

#include <algorithm>
#include <chrono>
#include <csignal>

#include "launcher/deadline.h"
#include "launcher/descendants.h"

namespace gpupool::launcher {
namespace {

// For processes that outlive the command by a moment, like the `tee` of a shell script.
constexpr std::chrono::milliseconds kLeftoverTime{1000};

constexpr std::chrono::seconds kLookEvery{1};

// Of two timeouts for poll(2), of which the first may be endless: negative.
int earlier(int timeout_ms, int other_ms) {
  return timeout_ms < 0 ? other_ms : std::min(timeout_ms, other_ms);
}

}  // namespace

void Supervisor::run(const std::function<void(const Ending&)>& ended,
                     std::function<void(const Ending&)> in_grace) {
  in_grace_ = std::move(in_grace);
  wait_for_command();
  read_rest();
  ended(ending_);
  wait_for_group();
  if (told()) in_grace_(ending_);
  kill_leftovers(command_);
  notice_ = nullptr;  // nobody is left to tell
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
  while (stop_signals_ > 0 && anything_left()) {
    step(-1);
    relay_.pump();
  }
}

// A command with a notice may save its work in a process that has left its group.
bool Supervisor::anything_left() const { return group_exists(command_) || (told() && has_children()); }

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
  if (push_ != nullptr) push_->add_to(events);
  for (const std::optional<Clock::time_point>& wake :
       {push_ == nullptr ? std::nullopt : push_->due(), notice_ == nullptr ? std::nullopt : notice_->due(),
        told() ? std::optional(next_look_) : std::nullopt}) {
    if (wake) timeout_ms = earlier(timeout_ms, milliseconds_until(*wake));
  }
  ::poll(events.data(), events.size(), timeout_ms);
  metrics_.pump();
  server_.pump();
  if (push_ != nullptr) push_->pump();
  while (const std::optional<ReceivedSignal> signal = inbox_.next()) take_signal(*signal);
  forward_due();
  look_in_grace();
}

void Supervisor::look_in_grace() {
  if (!told() || Clock::now() < next_look_) return;
  next_look_ = Clock::now() + kLookEvery;
  in_grace_(ending_);
}

void Supervisor::forward_due() {
  const std::optional<int> signal = notice_ == nullptr ? std::nullopt : notice_->take_due();
  if (!signal) return;
  ending_.forwarded |= !command_ended_;
  ::kill(-command_, *signal);
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
  if (is_stop_signal(signal) && !is_forwarded(received)) return;
  // To the whole process group, as a terminal does: a shell would not pass the signal on.
  ::kill(-command_, signal);
}

bool Supervisor::is_forwarded(const ReceivedSignal& stop) {
  reap();  // a command that has ended by now was not told
  ++stop_signals_;
  if (!sent_from_outside(stop.sender)) return true;
  if (!command_ended_) ending_.stop_signal = stop.number;
  if (notice_ != nullptr && !notice_->take(stop.number)) return false;
  ending_.forwarded |= !command_ended_;
  return true;
}

}  // namespace gpupool::launcher
