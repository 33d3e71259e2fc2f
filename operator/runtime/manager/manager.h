#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "runtime/manager/leader_gate.h"
#include "runtime/manager/runnable.h"

namespace gpupool::runtime {

class PartThreads;

// Starts the parts in order and stops them in reverse: caches, wait until all are synced, stand for election,
// then controllers; the event recorder stops last, and the leadership is given up after it. After
// controller-runtime's manager. Everything added must outlive run(). Not thread-safe before run(); ready()
// and unsynced() are at any time.
class Manager {
 public:
  Manager(base::Clock& clock, base::Log log);

  void add_cache(Runnable& runnable, std::function<bool()> synced);
  void add_controller(Runnable& runnable);
  void add_last(Runnable& runnable);       // started first, stopped last: the event recorder
  void set_leader_gate(LeaderGate& gate);  // without one the controllers start at once

  // Runs until `stop`, then stops every part within `grace` (controllers in 60 % of it, caches by 80 %).
  // Errors, which name the parts at fault:
  //   a part returned before it was told to: kIo, everything is stopped;
  //   leadership was lost: kIo, nothing was waited for: the caller must leave by _exit() at once;
  //   caches not synced within `sync_timeout`: kTimeout, everything is stopped;
  //   a part did not return in time: kTimeout. Its thread still runs, so the caller must leave by
  //   _exit().
  base::Result<void> run(std::stop_token stop, base::Duration sync_timeout, base::Duration grace);

  bool ready() const;  // caches are synced and the manager is not stopping, whoever leads
  // The names of caches not yet synced, for /readyz.
  std::vector<std::string> unsynced() const;

 private:
  struct Cache {
    Runnable* runnable;
    std::function<bool()> synced;
  };
  base::Result<void> wait_for_caches(PartThreads& threads, const std::stop_token& stop,
                                     base::Duration sync_timeout);
  base::Result<void> wait_for_leadership(PartThreads& threads, const std::stop_token& stop);
  base::Result<void> stop_parts(PartThreads& threads, base::Result<void> result, base::Duration grace);
  bool leadership_lost(const PartThreads& threads) const;

  base::Clock& clock_;
  base::Log log_;
  std::vector<Cache> caches_;
  std::vector<Runnable*> controllers_;
  std::vector<Runnable*> last_;
  LeaderGate* gate_ = nullptr;
  std::atomic<bool> ready_{false};
};

}  // namespace gpupool::runtime
