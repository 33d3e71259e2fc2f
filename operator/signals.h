#pragma once

#include <atomic>
#include <csignal>
#include <stop_token>
#include <thread>

namespace gpupool {

// Turns SIGTERM and SIGINT into a stop request; the second one ends the program at once with status 1. Make
// it before any other thread, so that all inherit the blocked signals.
class StopSignals {
 public:
  explicit StopSignals(std::stop_source& stop);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  void wait();

  std::stop_source& stop_;
  sigset_t signals_{};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace gpupool
