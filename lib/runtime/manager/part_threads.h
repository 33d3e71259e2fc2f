// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "runtime/manager/runnable.h"

namespace gpupool::runtime {

// The threads of the Manager's parts. Used only by the thread of Manager::run().
class PartThreads {
 public:
  PartThreads(base::Clock& clock, base::Log log);

  void start(Runnable& runnable);

  // Waits until `deadline`, until stop is requested or until a part has returned.
  void wait(std::stop_token stop, std::optional<base::SteadyTime> deadline);
  // Returns the parts that have returned.
  std::vector<std::string> returned() const;
  bool has_returned(const Runnable& runnable) const;

  // Tells these parts to stop and waits for them until `deadline`. Returns the names of those that still run.
  // A thread cannot be killed, so it runs on: what it uses must live until the process ends.
  std::vector<std::string> stop(const std::vector<Runnable*>& runnables, base::SteadyTime deadline);
  // Tells all parts to stop and does not wait.
  void abandon();

 private:
  struct Part {
    Runnable* runnable;
    std::string name;
    std::stop_source stop;
    bool returned = false;  // protected by Shared::mutex
  };
  // Shared with the threads, because one of them may outlive the Manager's run().
  struct Shared {
    base::Mutex mutex;
    std::condition_variable_any changed;
    std::vector<std::shared_ptr<Part>> parts GPUPOOL_GUARDED_BY(mutex);
  };
  struct Running {
    std::shared_ptr<Part> part;
    std::thread thread;
  };

  base::Clock& clock_;
  base::Log log_;
  std::shared_ptr<Shared> shared_;
  std::vector<Running> running_;
};

}  // namespace gpupool::runtime
