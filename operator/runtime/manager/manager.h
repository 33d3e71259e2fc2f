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

// Starts the parts in order and stops them in reverse: caches, wait until all are synced, then controllers; the event recorder stops
// last. After controller-runtime's manager. Everything added must outlive run(). Not thread-safe before run(); healthy() and ready()
// are.
class Manager {
 public:
  Manager(base::Clock& clock, base::Log log);

  void add_cache(Runnable& runnable, std::function<bool()> synced);
  void add_controller(Runnable& runnable);
  void add_last(Runnable& runnable);  // started first, stopped last: the event recorder

  // Runs until `stop`, then stops every part within `grace` (a part that does not return in time is named in the error).
  // Also an error: caches not synced within `sync_timeout`, naming them.
  base::Result<void> run(std::stop_token stop, base::Duration sync_timeout, base::Duration grace);

  bool ready() const;  // caches are synced and the manager is not stopping
  // The names of caches not yet synced, for /readyz.
  std::vector<std::string> unsynced() const;

 private:
  struct Cache {
    Runnable* runnable;
    std::function<bool()> synced;
  };
  base::Clock& clock_;
  base::Log log_;
  std::vector<Cache> caches_;
  std::vector<Runnable*> controllers_;
  std::vector<Runnable*> last_;
  std::atomic<bool> ready_{false};
};

}  // namespace gpupool::runtime
