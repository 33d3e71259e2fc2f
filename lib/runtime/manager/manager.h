// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "runtime/manager/leader_gate.h"
#include "runtime/manager/runnable.h"

namespace gpupool::runtime {

class PartThreads;

// Starts the parts of the program in order and stops them in reverse, as controller-runtime's manager does:
//
//   start  1. event recorder  2. caches, until all are synced  3. election  4. preparation  5. controllers
//   stop   1. controllers     2. caches                        3. event recorder  4. leadership
//
// Each part has its own thread. main calls run() and blocks in it. Not thread-safe before run(); ready() and
// unsynced() may be called from any thread. Does not own the parts. REQUIRES: everything added outlives
// run().
class Manager {
 public:
  Manager(base::Clock& clock, base::Log log);

  void add_cache(Runnable& runnable, std::function<bool()> synced);
  void add_controller(Runnable& runnable);
  void add_last(Runnable& runnable);       // started first, stopped last: the event recorder
  void set_leader_gate(LeaderGate& gate);  // without a gate the controllers start at once
  // What the controllers need from the server before they start. Runs on the thread of run(); REQUIRES: it
  // returns within seconds, and promptly after a stop request.
  void set_preparation(std::function<void(std::stop_token)> prepare) { prepare_ = std::move(prepare); }

  // Runs until `stop`, then stops all parts within `grace`: controllers in the first 60 % of it, caches up to
  // 80 %. The message of an error names the parts.
  //
  //   what happened                          error     state                 caller
  //   a part returned before its stop        kIo       everything stopped
  //   leadership was lost                    kIo       nothing was stopped   must call _exit() at once
  //   caches not synced in `sync_timeout`    kTimeout  everything stopped
  //   a part did not return in time          kTimeout  its thread runs on    must call _exit()
  base::Result<void> run(std::stop_token stop, base::Duration sync_timeout, base::Duration grace);

  bool ready() const;  // true if caches are synced and the manager is not stopping; also without leadership
  // The names of the caches that are not synced yet, for /readyz.
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
  std::function<void(std::stop_token)> prepare_;
  std::atomic<bool> ready_{false};
};

}  // namespace gpupool::runtime
