// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <initializer_list>
#include <thread>

namespace gpupool::base {

// Takes signals of the process on a thread of its own, where a handler may do anything, unlike one of
// sigaction().
//
// REQUIRES: constructed before any other thread is started, so that all of them inherit the blocked signals.
// The signals stay blocked after its end.
class SignalThread {
 public:
  // on_signal: called once per signal, one after the other; a signal that comes again before its call is one
  // signal.
  SignalThread(std::initializer_list<int> signals, std::function<void(int signal)> on_signal);
  // Waits for a call of on_signal that is under way; none begins afterwards.
  ~SignalThread();
  SignalThread(const SignalThread&) = delete;
  SignalThread& operator=(const SignalThread&) = delete;

 private:
  const std::function<void(int)> on_signal_;
  const int any_signal_;  // ends the thread's wait
  sigset_t signals_{};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace gpupool::base
