// SPDX-License-Identifier: Apache-2.0
#include "runtime/queue/work_queue.h"

#include <algorithm>

namespace gpupool::runtime {

namespace {

constexpr base::Duration kFirstBackoff = std::chrono::milliseconds(5);
// A live key overtakes a background key that was added at most this much earlier. Without a limit background
// keys could wait for ever, and the new leader of a busy cluster would not reach what the last one left
// unfinished.
constexpr base::Duration kOvertakes = std::chrono::seconds(1);

double in_seconds(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }

base::Duration backoff(int failures, base::Duration cap) {
  base::Duration delay = kFirstBackoff;
  for (int i = 0; i < failures && delay < cap; ++i) delay *= 2;
  return std::min(delay, cap);
}

Priority more_urgent(Priority a, Priority b) {
  return a == Priority::kLive || b == Priority::kLive ? Priority::kLive : Priority::kBackground;
}

}  // namespace

WorkQueue::WorkQueue(base::Clock& clock, base::Duration max_backoff, std::optional<QueueMetrics> metrics)
    : clock_(clock), max_backoff_(max_backoff), metrics_(metrics) {}

void WorkQueue::add(const Key& key, Priority priority) {
  const base::MutexLock lock(mutex_);
  want_locked(key, priority);
}

void WorkQueue::add_after(const Key& key, base::Duration delay) {
  const base::MutexLock lock(mutex_);
  delay_locked(key, delay, delay >= kLongDelay ? Priority::kBackground : Priority::kLive);
}

void WorkQueue::add_rate_limited(const Key& key) {
  const base::MutexLock lock(mutex_);
  const auto work = working_.find(key);
  const auto priority = work == working_.end() ? Priority::kLive : work->second.priority;
  delay_locked(key, backoff(failures_[key]++, max_backoff_), priority);
  if (metrics_) metrics_->retries.increment();
}

void WorkQueue::forget(const Key& key) {
  const base::MutexLock lock(mutex_);
  failures_.erase(key);
}

std::optional<WorkQueue::Key> WorkQueue::get(std::stop_token stop) {
  base::MutexLock lock(mutex_);
  while (!stop.stop_requested()) {
    promote_due_locked();
    if (any_ready_locked()) return take_locked();
    const auto due = next_due_locked();
    clock_.wait(lock.native(), changed_, stop, due,
                [&]() GPUPOOL_REQUIRES(mutex_) { return any_ready_locked() || next_due_locked() != due; });
  }
  return std::nullopt;
}

void WorkQueue::done(const Key& key) {
  const base::MutexLock lock(mutex_);
  const auto work = working_.find(key);
  if (work == working_.end()) return;
  if (metrics_) metrics_->work_seconds.observe(in_seconds(clock_.now() - work->second.since));
  working_.erase(work);
  if (const auto wanted = wanted_.find(key); wanted != wanted_.end()) push_locked(key, wanted->second);
}

std::size_t WorkQueue::depth() const {
  const base::MutexLock lock(mutex_);
  return live_.size() + background_.size();
}

std::size_t WorkQueue::in_work() const {
  const base::MutexLock lock(mutex_);
  return working_.size();
}

int WorkQueue::failures(const Key& key) const {
  const base::MutexLock lock(mutex_);
  const auto found = failures_.find(key);
  return found == failures_.end() ? 0 : found->second;
}

std::optional<base::SteadyTime> WorkQueue::next_due_locked() const {
  if (delayed_.empty()) return std::nullopt;
  return delayed_.begin()->first;
}

void WorkQueue::want_locked(const Key& key, Priority priority) {
  const auto [entry, added] = wanted_.try_emplace(key, Wanted{priority, clock_.now()});
  Wanted& wanted = entry->second;
  const bool in_work = working_.contains(key);
  if (added) {
    if (metrics_) metrics_->adds.increment();
    if (!in_work) push_locked(key, wanted);
    return;
  }
  if (wanted.priority == more_urgent(wanted.priority, priority)) return;
  wanted.priority = Priority::kLive;
  if (!in_work) live_.splice(live_.end(), background_, wanted.place);
}

void WorkQueue::push_locked(const Key& key, Wanted& wanted) {
  auto& ready = ready_list(wanted.priority);
  wanted.place = ready.insert(ready.end(), key);
  show_depth_locked();
  changed_.notify_one();
}

void WorkQueue::delay_locked(const Key& key, base::Duration delay, Priority priority) {
  if (delay <= base::Duration::zero()) return want_locked(key, priority);
  const auto until = clock_.now() + delay;
  const auto [entry, added] = delays_.try_emplace(key, Delay{until, priority});
  Delay& known = entry->second;
  if (!added) {
    known.priority = more_urgent(known.priority, priority);
    if (known.until <= until) return;
    delayed_.erase({known.until, key});
    known.until = until;
  }
  const auto place = delayed_.emplace(until, key).first;
  // All waiting threads are woken: the one that waits for the earlier deadline may be busy when it comes.
  if (place == delayed_.begin()) changed_.notify_all();
}

void WorkQueue::promote_due_locked() {
  if (delayed_.empty()) return;
  const auto now = clock_.now();
  while (!delayed_.empty() && delayed_.begin()->first <= now) {
    const Key key = delayed_.begin()->second;
    delayed_.erase(delayed_.begin());
    const auto delay = delays_.find(key);
    const auto priority = delay->second.priority;
    delays_.erase(delay);
    want_locked(key, priority);
  }
}

WorkQueue::Key WorkQueue::take_locked() {
  const auto since = [this](const std::list<Key>& ready)
                         GPUPOOL_REQUIRES(mutex_) { return wanted_.find(ready.front())->second.since; };
  const bool patient =
      background_.empty() || (!live_.empty() && since(live_) < since(background_) + kOvertakes);
  auto& ready = patient ? live_ : background_;
  Key key = std::move(ready.front());
  ready.pop_front();
  const auto wanted = wanted_.find(key);
  const auto now = clock_.now();
  if (metrics_) metrics_->queue_seconds.observe(in_seconds(now - wanted->second.since));
  working_.emplace(key, Work{wanted->second.priority, now});
  wanted_.erase(wanted);
  show_depth_locked();
  return key;
}

void WorkQueue::show_depth_locked() {
  if (metrics_) metrics_->depth.set(static_cast<double>(live_.size() + background_.size()));
}

}  // namespace gpupool::runtime
