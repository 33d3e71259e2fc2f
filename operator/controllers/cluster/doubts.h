#pragma once

#include <chrono>
#include <map>
#include <mutex>

#include "api/meta/resource_type.h"
#include "base/clock.h"

namespace gpupool::controllers {

// Jobs of which it is not known whether their last write was done: the server did not answer, or said that
// something went wrong. What the job was given is kept for it meanwhile, but not for ever: a server that
// fails at each write of one job would keep nodes from all others. Thread-safe.
class Doubts {
 public:
  explicit Doubts(const base::Clock& clock) : clock_(clock) {}

  // There is doubt, again or still. False once that has been so for longer than an API server works on a
  // request (its --request-timeout, 60 s).
  bool go_on(const api::ObjectKey& job) {
    const auto now = clock_.now();
    const std::lock_guard lock(mutex_);
    return now - since_.try_emplace(job, now).first->second < kLongest;
  }
  // What the job wrote is known.
  void end(const api::ObjectKey& job) {
    const std::lock_guard lock(mutex_);
    since_.erase(job);
  }

 private:
  static constexpr base::Duration kLongest = std::chrono::seconds(60);
  const base::Clock& clock_;
  std::mutex mutex_;
  std::map<api::ObjectKey, base::SteadyTime> since_;
};

}  // namespace gpupool::controllers
