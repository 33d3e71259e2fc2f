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

// Which events were sent lately, so that the same one again becomes a series of the first. No I/O; not
// thread-safe. Intervals are client-go's (tools/events). Unlike there, an event with another note is another
// event: a series could only show the first note.
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

  // Counts the event and says what the server has to be told.
  Seen see(const Event& event, base::SteadyTime now);
  // The event was created under this name.
  void created(const Event& event, const api::ObjectKey& name, base::SteadyTime now);
  // The server does not have it any more.
  void forget(const Event& event);

  // Patches for what is due, the final counts of series that ended among them; forgets those.
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
  std::list<const Id*> by_age_;  // whose are last_seen longest ago first: a burst fills the book
};

}  // namespace gpupool::runtime
