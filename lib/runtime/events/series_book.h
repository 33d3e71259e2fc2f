// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"
#include "runtime/events/event.h"

namespace gpupool::runtime {

// Remembers which events were sent recently, so that a repeated event becomes a series. No I/O; not
// thread-safe. The intervals are those of client-go's tools/events. Unlike there, an event with another note
// is another event, because a series shows only the first note.
class SeriesBook {
 public:
  static constexpr base::Duration kRefresh = std::chrono::minutes(30);
  static constexpr base::Duration kQuiet = std::chrono::minutes(6);
  static constexpr std::size_t kMaxSeries = 4096;

  struct Patch {
    api::ObjectKey event;
    std::int64_t count = 0;
    base::WallTime last_observed;
  };
  enum class Step { kCreate, kPatch, kNothing };
  struct Seen {
    Step step;
    Patch patch = {};  // for kPatch
  };

  // Counts the event and returns what must be sent to the server.
  Seen see(const Event& event, base::SteadyTime now);
  // Stores the name under which the event was created.
  void created(const Event& event, const api::ObjectKey& name, base::SteadyTime now);
  // Call when the server no longer has the event.
  void forget(const Event& event);

  // Returns the patches that are due. Series that have ended get their final count and are forgotten.
  std::vector<Patch> sweep(base::SteadyTime now);
  bool empty() const { return series_.empty(); }

 private:
  using Id = std::tuple<EventType, std::string, std::string, std::string, std::string, std::string,
                        std::string, std::string, std::string>;
  struct Series {
    Patch now;
    std::int64_t sent_count = 1;
    base::SteadyTime last_seen;
    base::SteadyTime last_sent;
    std::list<const Id*>::iterator place;

    Patch send(base::SteadyTime at);
  };
  using Book = std::map<Id, Series>;
  static Id id(const Event& event);
  Book::iterator drop(Book::iterator series);

  Book series_;
  std::list<const Id*> by_age_;  // oldest last_seen first
};

}  // namespace gpupool::runtime
