#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <utility>

#include "api/meta/resource_type.h"
#include "base/clock.h"
#include "runtime/queue/queue_metrics.h"

namespace gpupool::runtime {

// Live changes overtake background work (the initial list, long re-checks).
enum class Priority { kLive, kBackground };

// Keys waiting to be reconciled. One key is never handed to two workers at once; adds while it is being
// worked on collapse into one re-add at done(). Semantics of client-go's util/workqueue. Thread-safe; no
// operation looks at more than O(log n) keys.
class WorkQueue {
 public:
  using Key = api::ObjectKey;

  // Delays from this long on are re-checks that nobody waits for: they come back as background work.
  static constexpr base::Duration kLongDelay = std::chrono::minutes(1);

  // Per-item backoff 5 ms x 2^n up to `max_backoff` (client-go's ItemExponentialFailureRateLimiter).
  WorkQueue(base::Clock& clock, base::Duration max_backoff,
            std::optional<QueueMetrics> metrics = std::nullopt);

  // A key that waits as background work is promoted by a live add.
  void add(const Key& key, Priority priority = Priority::kLive);
  // Ready no later than after `delay`; an earlier time for the same key wins.
  void add_after(const Key& key, base::Duration delay);
  // After the key's own backoff, which grows until forget(). A key in work keeps the priority it was taken
  // with.
  void add_rate_limited(const Key& key);
  void forget(const Key& key);

  // The next key to work on; nothing when stop is requested. Call done() with it.
  std::optional<Key> get(std::stop_token stop);
  void done(const Key& key);

  std::size_t depth() const;  // ready and not in work
  std::size_t in_work() const;
  int failures(const Key& key) const;

 private:
  // Wanted: in a ready list, or in work and to be done again.
  struct Wanted {
    Priority priority;
    base::SteadyTime since;
    std::list<Key>::iterator place = {};  // only while not in work
  };
  struct Work {
    Priority priority;
    base::SteadyTime since;
  };
  struct Delay {
    base::SteadyTime until;
    Priority priority;
  };

  std::list<Key>& ready_list(Priority priority) { return priority == Priority::kLive ? live_ : background_; }
  bool any_ready_locked() const { return !live_.empty() || !background_.empty(); }
  std::optional<base::SteadyTime> next_due_locked() const;
  void want_locked(const Key& key, Priority priority);
  void push_locked(const Key& key, Wanted& wanted);
  void delay_locked(const Key& key, base::Duration delay, Priority priority);
  void promote_due_locked();
  Key take_locked();
  void show_depth_locked();

  base::Clock& clock_;
  base::Duration max_backoff_;
  std::optional<QueueMetrics> metrics_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::list<Key> live_;
  std::list<Key> background_;
  std::map<Key, Wanted> wanted_;
  std::map<Key, Work> working_;
  std::set<std::pair<base::SteadyTime, Key>> delayed_;
  std::map<Key, Delay> delays_;
  std::map<Key, int> failures_;
};

}  // namespace gpupool::runtime
