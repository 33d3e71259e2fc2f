// SPDX-License-Identifier: Apache-2.0
#include "base/signal_thread.h"

#include <utility>

namespace gpupool::base {

SignalThread::SignalThread(std::initializer_list<int> signals, std::function<void(int)> on_signal)
    : on_signal_(std::move(on_signal)), any_signal_(*signals.begin()) {
  sigemptyset(&signals_);
  for (const int signal : signals) sigaddset(&signals_, signal);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  // Signals that somebody blocks later and waits for must not reach this thread either.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] {
    for (int signal = 0; sigwait(&signals_, &signal) == 0 && !over_;) on_signal_(signal);
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

SignalThread::~SignalThread() {
  over_ = true;
  pthread_kill(thread_.native_handle(), any_signal_);
  thread_.join();
}

}  // namespace gpupool::base
