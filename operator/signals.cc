#include "signals.h"

#include <unistd.h>

namespace gpupool {

StopSignals::StopSignals(std::stop_source& stop) : stop_(stop) {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  (void)std::signal(SIGPIPE, SIG_IGN);
  thread_ = std::thread([this] { wait(); });
}

StopSignals::~StopSignals() {
  over_ = true;
  pthread_kill(thread_.native_handle(), SIGINT);
  thread_.join();
}

void StopSignals::wait() {
  int signal = 0;
  sigwait(&signals_, &signal);
  stop_.request_stop();
  if (over_) return;
  sigwait(&signals_, &signal);
  if (!over_) _exit(1);
}

}  // namespace gpupool
