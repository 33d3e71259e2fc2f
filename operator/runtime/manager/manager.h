#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "runtime/manager/runnable.h"

namespace gpupool::runtime {

class PartThreads;

// Starts the parts in order and stops them in reverse: caches, wait until all are synced, then controllers;
// the event recorder stops last. After controller-runtime's manager. Everything added must outlive run(). Not
// thread-safe before run(); ready() and unsynced() are at any time.
class Manager {
 public:
  Manager(base::Clock& clock, base::Log log);

  void add_cache(Runnable& runnable, std::function<bool()> synced);
  void add_controller(Runnable& runnable);
  void add_last(Runnable& runnable);  // started first, stopped last: the event recorder

  // Runs until `stop`, then stops every part within `grace` (controllers in 60 % of it, caches by 80 %).
  // Errors, which name the parts at fault:
  //   a part returned before it was told to: kIo, everything is stopped;
  //   caches not synced within `sync_timeout`: kTimeout, everything is stopped;
  //   a part did not return in time: kTimeout. Its thread still runs, so the caller must leave by
  //   _exit().
  base::Result<void> run(std::stop_token stop, base::Duration sync_timeout, base::Duration grace);

  bool ready() const;  // caches are synced and the manager is not stopping
  // The names of caches not yet synced, for /readyz.
  std::vector<std::string> unsynced() const;

 private:
  struct Cache {
    Runnable* runnable;
    std::function<bool()> synced;
  };
  base::Result<void> wait_for_caches(PartThreads& threads, const std::stop_token& stop,
                                     base::Duration sync_timeout);

  base::Clock& clock_;
  base::Log log_;
  std::vector<Cache> caches_;
  std::vector<Runnable*> controllers_;
  std::vector<Runnable*> last_;
  std::atomic<bool> ready_{false};
};

}  // namespace gpupool::runtime
