#include "hangup.h"

#include <utility>

namespace gpupool {

Hangup::Hangup(std::function<void()> on_hangup) : on_hangup_(std::move(on_hangup)) {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  // The signals that others will block and wait for must not reach this thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] {
    for (int signal = 0; sigwait(&signals_, &signal) == 0 && !over_;) on_hangup_();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Hangup::~Hangup() {
  over_ = true;
  pthread_kill(thread_.native_handle(), SIGHUP);
  thread_.join();
}

}  // namespace gpupool
