#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace gpupool {

// Calls back on every SIGHUP, from a thread of its own. Make it before any other thread, so that all inherit
// the blocked signal.
class Hangup {
 public:
  explicit Hangup(std::function<void()> on_hangup);
  ~Hangup();
  Hangup(const Hangup&) = delete;
  Hangup& operator=(const Hangup&) = delete;

 private:
  const std::function<void()> on_hangup_;
  sigset_t signals_{};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace gpupool
