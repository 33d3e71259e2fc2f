// SPDX-License-Identifier: Apache-2.0
#include "serve/job_feed.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/v1alpha1/gpu_job.h"
#include "base/json.h"
#include "runtime/cache/watch_event.h"

namespace gpupool::ledger {

JobFeed::JobFeed(Books& books, base::Metrics& metrics, const base::Log& log)
    : books_(books),
      log_(log),
      entries_(metrics.counter("gpupool_ledger_entries_total", "Entries made since the start.")),
      failures_(metrics.counter("gpupool_ledger_failures_total", "Times that entries could not be made.")) {}

base::Result<void> JobFeed::item(std::string_view text) {
  const auto job = base::json::read<api::GpuJob>(text);
  if (!job) return tl::unexpected<base::Error>(job.error());
  auto facts = facts_of(*job);
  const base::MutexLock lock(mutex_);
  std::ranges::move(facts, std::back_inserter(listed_));
  return {};
}

void JobFeed::commit() {
  const base::MutexLock lock(mutex_);
  std::ranges::move(std::exchange(listed_, {}), std::back_inserter(pending_));
  enter();
}

void JobFeed::abandon() {
  const base::MutexLock lock(mutex_);
  listed_.clear();
}

// The last state of a deleted job counts as any other.
base::Result<std::string> JobFeed::event(std::string_view /*type*/, std::string_view line) {
  const auto changed = base::json::read<runtime::WatchEvent<api::GpuJob>>(line);
  if (!changed) return tl::unexpected<base::Error>(changed.error());
  auto facts = facts_of(changed->object);
  const base::MutexLock lock(mutex_);
  std::ranges::move(facts, std::back_inserter(pending_));
  enter();
  return changed->object.metadata.resource_version;
}

std::string JobFeed::retry() {
  const base::MutexLock lock(mutex_);
  return enter();
}

std::string JobFeed::enter() {
  if (pending_.empty()) return {};
  const auto made = books_.enter(pending_);
  if (!made) {
    failures_.increment();
    if (!failing_) log_.error("cannot enter into the books; trying again", {{"error", made.error().message}});
    failing_ = true;
    return made.error().message;
  }
  if (failing_) log_.info("entered into the books what was left");
  failing_ = false;
  entries_.increment(static_cast<double>(*made));
  pending_.clear();
  return {};
}

}  // namespace gpupool::ledger
