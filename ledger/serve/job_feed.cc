// SPDX-License-Identifier: Apache-2.0
#include "serve/job_feed.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/v1alpha1/gpu_job.h"
#include "base/json.h"
#include "runtime/cache/watch_event.h"

namespace gpupool::ledger {

base::Result<void> JobFeed::item(std::string_view text) {
  const auto job = base::json::read<api::GpuJob>(text);
  if (!job) return tl::unexpected<base::Error>(job.error());
  auto facts = facts_of(*job);
  const base::MutexLock lock(mutex_);
  std::ranges::move(facts, std::back_inserter(listed_));
  return {};
}

void JobFeed::commit() {
  std::vector<Fact> listed;
  {
    const base::MutexLock lock(mutex_);
    listed = std::exchange(listed_, {});
    for (const auto& fact : listed) arrived_.insert(fact.ns);
  }
  intake_.enter(std::move(listed));
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
  if (!facts.empty()) {
    const base::MutexLock lock(mutex_);
    arrived_.insert(changed->object.metadata.ns);
  }
  intake_.enter(std::move(facts));
  return changed->object.metadata.resource_version;
}

void JobFeed::reached(const std::string& version) {
  const base::MutexLock lock(mutex_);
  version_ = version;
  changed_.merge(arrived_);
  arrived_.clear();
}

std::string JobFeed::version() {
  const base::MutexLock lock(mutex_);
  return version_;
}

std::set<std::string> JobFeed::take_changed() {
  const base::MutexLock lock(mutex_);
  return std::exchange(changed_, {});
}

}  // namespace gpupool::ledger
