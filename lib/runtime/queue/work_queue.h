// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <stop_token>
#include <utility>

#include "api/meta/resource_type.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "runtime/queue/queue_metrics.h"

namespace gpupool::runtime {

// Live changes are handled before background work (the initial list, checks after a long delay).
enum class Priority { kLive, kBackground };

// Keys that wait to be reconciled. One key is never given to two reconcile threads at once; adds while it is
// in work become one new entry at done(). The semantics of client-go's util/workqueue. Handlers of cache
// changes and reconcile threads add; reconcile threads get. Thread-safe; each operation costs O(log n).
class WorkQueue {
 public:
  using Key = api::ObjectKey;

  // Keys that were added with a delay of at least this return as background work.
  static constexpr base::Duration kLongDelay = std::chrono::minutes(1);

  // Backoff of a key: 5 ms x 2^n, at most `max_backoff` (client-go's ItemExponentialFailureRateLimiter).
  WorkQueue(base::Clock& clock, base::Duration max_backoff,
            std::optional<QueueMetrics> metrics = std::nullopt);

  // A live add promotes a key that waits as background work.
  void add(const Key& key, Priority priority = Priority::kLive);
  // Adds the key after `delay`. If it is already delayed, the earlier time counts.
  void add_after(const Key& key, base::Duration delay);
  // Adds the key after its own backoff, which grows until forget(). A key in work keeps its priority.
  void add_rate_limited(const Key& key);
  void forget(const Key& key);

  // Blocks until a key is ready; returns nothing after a stop request. The caller must call done() with the
  // key.
  std::optional<Key> get(std::stop_token stop);
  void done(const Key& key);

  std::size_t depth() const;  // ready and not in work
  std::size_t in_work() const;
  int failures(const Key& key) const;

 private:
  // A key in a ready list, or in work and to be handled again.
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

  std::list<Key>& ready_list(Priority priority) GPUPOOL_REQUIRES(mutex_) {
    return priority == Priority::kLive ? live_ : background_;
  }
  bool any_ready_locked() const GPUPOOL_REQUIRES(mutex_) { return !live_.empty() || !background_.empty(); }
  std::optional<base::SteadyTime> next_due_locked() const GPUPOOL_REQUIRES(mutex_);
  void want_locked(const Key& key, Priority priority) GPUPOOL_REQUIRES(mutex_);
  void push_locked(const Key& key, Wanted& wanted) GPUPOOL_REQUIRES(mutex_);
  void delay_locked(const Key& key, base::Duration delay, Priority priority) GPUPOOL_REQUIRES(mutex_);
  void promote_due_locked() GPUPOOL_REQUIRES(mutex_);
  Key take_locked() GPUPOOL_REQUIRES(mutex_);
  void show_depth_locked() GPUPOOL_REQUIRES(mutex_);

  base::Clock& clock_;
  base::Duration max_backoff_;
  std::optional<QueueMetrics> metrics_;
  mutable base::Mutex mutex_;
  std::condition_variable_any changed_;
  std::list<Key> live_ GPUPOOL_GUARDED_BY(mutex_);
  std::list<Key> background_ GPUPOOL_GUARDED_BY(mutex_);
  std::map<Key, Wanted> wanted_ GPUPOOL_GUARDED_BY(mutex_);
  std::map<Key, Work> working_ GPUPOOL_GUARDED_BY(mutex_);
  std::set<std::pair<base::SteadyTime, Key>> delayed_ GPUPOOL_GUARDED_BY(mutex_);
  std::map<Key, Delay> delays_ GPUPOOL_GUARDED_BY(mutex_);
  std::map<Key, int> failures_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::runtime
