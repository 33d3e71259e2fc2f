// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/line_hub.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gpupool::logs {
namespace {

constexpr std::size_t kMostAhead = std::size_t{1} << 20;

}  // namespace

std::size_t LineHub::open() {
  const base::MutexLock lock(mutex_);
  return merger_.open();
}

bool LineHub::add(std::size_t log, LogLine line, const std::stop_token& stop) {
  base::MutexLock lock(mutex_);
  const auto has_place = [this, log]()
                             GPUPOOL_REQUIRES(mutex_) { return merger_.waiting_bytes(log) < kMostAhead; };
  if (!has_place() && !clock_.wait(lock.native(), drained_, stop, std::nullopt, has_place)) return false;
  if (merger_.empty()) {
    first_line_ = true;
    changed_.notify_all();
  }
  merger_.add(log, std::move(line), clock_.now());
  return true;
}

void LineHub::close(std::size_t log) {
  const base::MutexLock lock(mutex_);
  merger_.close(log);
  woken_ = true;
  changed_.notify_all();
}

void LineHub::wake() {
  const base::MutexLock lock(mutex_);
  woken_ = true;
  changed_.notify_all();
}

std::vector<LineHub::Item> LineHub::take_due(bool all) {
  std::vector<Item> items;
  const base::MutexLock lock(mutex_);
  woken_ = false;
  first_line_ = false;
  const base::SteadyTime now = all ? base::SteadyTime::max() : clock_.now();
  merger_.take_due(now, [&](std::size_t log, LogLine line) { items.push_back({log, std::move(line)}); });
  if (!items.empty()) drained_.notify_all();
  return items;
}

void LineHub::wait(base::SteadyTime earliest, base::SteadyTime deadline, const std::stop_token& stop) {
  base::MutexLock lock(mutex_);
  if (clock_.wait(lock.native(), changed_, stop, std::min(earliest, deadline),
                  [this]() GPUPOOL_REQUIRES(mutex_) { return woken_; })) {
    return;
  }
  if (const auto due = merger_.next_due()) deadline = std::min(deadline, *due);
  clock_.wait(lock.native(), changed_, stop, deadline,
              [this]() GPUPOOL_REQUIRES(mutex_) { return woken_ || first_line_; });
}

}  // namespace gpupool::logs
