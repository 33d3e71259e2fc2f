#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>

#include "api/meta/resource_type.h"
#include "base/backoff.h"
#include "base/clock.h"

namespace gpupool::runtime {

// Live changes overtake background work (the initial list, long re-checks).
enum class Priority { kLive, kBackground };

// Keys waiting to be reconciled. One key is never handed to two workers at once; adds while it is being worked on collapse into one
// re-add at done(). Semantics of client-go's util/workqueue. Thread-safe.
class WorkQueue {
 public:
  using Key = api::ObjectKey;

  // Per-item backoff 5 ms x 2^n up to `max_backoff` (client-go's ItemExponentialFailureRateLimiter).
  WorkQueue(base::Clock& clock, base::Duration max_backoff);

  void add(const Key& key, Priority priority = Priority::kLive);
  // Ready no later than after `delay`; an earlier time for the same key wins.
  void add_after(const Key& key, base::Duration delay);
  // After the key's own backoff, which grows until forget().
  void add_rate_limited(const Key& key);
  void forget(const Key& key);

  // The next key to work on; nothing when stop is requested. Call done() with it.
  std::optional<Key> get(std::stop_token stop);
  void done(const Key& key);

  std::size_t depth() const;  // ready and not in work
  std::size_t in_work() const;
  int failures(const Key& key) const;

 private:
  void push_locked(const Key& key, Priority priority);
  void promote_due_locked();

  base::Clock& clock_;
  base::Duration max_backoff_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Key> live_;
  std::deque<Key> background_;
  std::map<Key, Priority> dirty_;                 // wanted: ready, or in work and to be done again
  std::set<Key> working_;
  std::set<std::pair<base::SteadyTime, Key>> delayed_;
  std::map<Key, base::SteadyTime> delayed_until_;
  std::map<Key, int> failures_;
};

}  // namespace gpupool::runtime
