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

// List-and-watch as a pure state machine, after kube-rs' watcher and client-go's reflector: it is told what
// happened and says what to do next; it does no I/O, holds no objects and never sleeps. Not thread-safe.
//
// first list at resourceVersion "0"; a relist at the last version seen, so that it never goes back behind it,
// or "" once after Expired / TooLarge; always without a limit, because pages come from storage, at several
// times the cost of the server's memory; watches of 300..600 s with bookmarks; 410 in its three forms (list,
// watch start, ERROR event in a 200 stream); 429: watch again from the same version, without a list;
// connection lost: the same, but ask the server for its version first: one that was taken back to an older
// state would accept the watch and keep silent until it has caught up; connection lost again before anything
// came: list; a clean end: watch again at once; a watch shorter than 1 s without an event, or any other
// error: list after backoff. Backoff 800 ms x 2 up to 30 s (3 s while the server cannot be reached), jitter
// 1.0, forgotten after 2 min without a failure.
class Watcher {
 public:
  struct DoList {
    std::string resource_version;
  };
  struct DoWatch {
    std::string resource_version;
    std::chrono::seconds timeout{300};
  };
  struct DoProbe {};  // learn the server's present version
  struct DoWait {
    base::Duration delay;
  };
  using Action = std::variant<DoList, DoWatch, DoProbe, DoWait>;

  Watcher(base::Clock& clock, std::uint64_t seed);

  // What to do now. Answer it with exactly one of the on_* calls below (a watch with any number of on_event
  // before).
  Action next();

  void on_listed(const std::string& list_resource_version);
  // Whether the last list is older than what was seen before: the server was taken back to an older state.
  bool went_back() const { return went_back_; }
  void on_list_error(const base::Error& error);
  void on_probe(const std::string& resource_version);
  void on_probe_error(const base::Error& error);
  // ADDED, MODIFIED, DELETED or BOOKMARK with this version was applied.
  void on_event(std::string_view type, const std::string& resource_version);
  // An ERROR event came inside the stream; on_watch_end follows.
  void on_error_event(const base::Error& error);
  void on_watch_end(const std::optional<base::Error>& error);
  void on_waited();

  std::uint64_t restarts() const { return restarts_; }  // watches begun after the first
  std::uint64_t lists() const { return lists_; }

 private:
  enum class State { kList, kWatch, kProbe, kWaitThenList, kWaitThenWatch, kWaitThenProbe };

  DoList next_list();
  DoWatch next_watch();
  void wait_then(State state, const std::optional<base::Error>& cause);

  base::Clock& clock_;
  base::Backoff backoff_;
  base::Backoff away_backoff_;  // while the server cannot be reached
  std::mt19937_64 random_;
  State state_ = State::kList;
  std::string resource_version_ = "0";  // the last one seen
  bool quorum_list_ = false;            // the last version is of no use: list at ""
  bool went_back_ = false;
  bool lost_ = false;  // the connection was, and nothing has come since
  base::Duration delay_{};
  base::SteadyTime watch_began_{};
  std::uint64_t events_ = 0;  // of this watch, bookmarks too
  std::optional<base::Error> stream_error_;
  std::uint64_t watches_ = 0;
  std::uint64_t restarts_ = 0;
  std::uint64_t lists_ = 0;
};

}  // namespace gpupool::runtime
