#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "runtime/manager/runnable.h"

namespace gpupool::runtime {

// The threads of the Manager's parts. Used by one thread.
class PartThreads {
 public:
  PartThreads(base::Clock& clock, base::Log log);

  void start(Runnable& runnable);

  // Waits until `deadline`, until stop is requested or until a part has returned.
  void wait(std::stop_token stop, std::optional<base::SteadyTime> deadline);
  // The parts that have returned.
  std::vector<std::string> returned() const;
  bool has_returned(const Runnable& runnable) const;

  // Tells these parts to stop and waits for them until `deadline`; returns the names of those that went on. A
  // thread cannot be killed, so it is left alone: what it uses must live until the process ends.
  std::vector<std::string> stop(const std::vector<Runnable*>& runnables, base::SteadyTime deadline);
  // Tells all to stop and waits for none.
  void abandon();

 private:
  struct Part {
    Runnable* runnable;
    std::string name;
    std::stop_source stop;
    bool returned = false;
  };
  // Outlives the Manager's run() if a part does.
  struct Shared {
    std::mutex mutex;
    std::condition_variable_any changed;
    std::vector<std::shared_ptr<Part>> parts;
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
