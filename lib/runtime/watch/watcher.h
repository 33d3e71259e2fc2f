// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <variant>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/result.h"

namespace gpupool::runtime {

// List-and-watch as a pure state machine, after kube-rs' watcher and client-go's reflector. next() returns
// the next action; the on_* calls report its result. No I/O, no objects, no sleeping. Used by the reflector's
// thread; not thread-safe.
//
//   result                                            next action
//   start                                             list at "0", from the server's memory
//   list                                              watch from its version
//   list without a version                            wait, list
//   list: version expired or too large                list at "", once
//   list: other error                                 wait, list
//   watch ends without an error                       watch again
//   watch ends without events in less than 1 s        wait, list
//   watch: 429                                        wait, watch from the last version
//   watch: connection lost, first time                wait, probe
//   watch: connection lost again before any event     wait, list
//   watch: version too large                          wait, list at ""
//   watch: expired (410), other error                 wait, list at the last version
//   probe: version not older than the last one seen   watch from the last version
//   probe: older version (server was restored)        list at ""
//   probe: error                                      wait, list
//
// An error of a watch is its HTTP status or an ERROR event in the stream. Lists name the last version seen,
// so that they never return an older state, and have no limit: pages are read from storage, at several times
// the cost. A watch lasts 300..600 s and has bookmarks. Without the probe, a server that was restored from a
// backup would accept the watch and send nothing until it has reached the old version. Waits: 800 ms x 2, at
// most 30 s (3 s while the server cannot be reached), jitter 1.0; reset after 2 min without a failure.
class Watcher {
 public:
  struct DoList {
    std::string resource_version;
  };
  struct DoWatch {
    std::string resource_version;
    std::chrono::seconds timeout{300};
  };
  struct DoProbe {};  // ask the server for its current version
  struct DoWait {
    base::Duration delay;
  };
  using Action = std::variant<DoList, DoWatch, DoProbe, DoWait>;

  Watcher(base::Clock& clock, std::uint64_t seed);

  // Returns what to do now. The caller reports the result with exactly one of the calls below; for a watch,
  // any number of on_event come before on_watch_end.
  Action next();

  void on_listed(const std::string& list_resource_version);
  // True if the last list is older than what was seen before: the server was restored to an older state.
  bool went_back() const { return went_back_; }
  void on_list_error(const base::Error& error);
  void on_probe(const std::string& resource_version);
  void on_probe_error(const base::Error& error);
  // An ADDED, MODIFIED, DELETED or BOOKMARK event with this version was applied.
  void on_event(std::string_view type, const std::string& resource_version);
  // The stream contained an ERROR event; on_watch_end follows.
  void on_error_event(const base::Error& error);
  void on_watch_end(const std::optional<base::Error>& error);
  void on_waited();

  std::uint64_t restarts() const { return restarts_; }  // number of watches after the first
  std::uint64_t lists() const { return lists_; }

 private:
  enum class State { kList, kWatch, kProbe, kWaitThenList, kWaitThenWatch, kWaitThenProbe };

  DoList next_list();
  DoWatch next_watch();
  void wait_then(State state, const std::optional<base::Error>& cause);

  base::Clock& clock_;
  base::Backoff backoff_;
  base::Backoff away_backoff_;  // used while the server cannot be reached
  std::mt19937_64 random_;
  State state_ = State::kList;
  std::string resource_version_ = "0";  // the last version seen
  bool quorum_list_ = false;            // the next list is at ""
  bool went_back_ = false;
  bool lost_ = false;  // the connection was lost, and nothing has arrived since
  base::Duration delay_{};
  base::SteadyTime watch_began_{};
  std::uint64_t events_ = 0;  // events of this watch, with bookmarks
  std::optional<base::Error> stream_error_;
  std::uint64_t watches_ = 0;
  std::uint64_t restarts_ = 0;
  std::uint64_t lists_ = 0;
};

}  // namespace gpupool::runtime
