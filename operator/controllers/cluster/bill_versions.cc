// SPDX-License-Identifier: Apache-2.0
#include "controllers/cluster/bill_versions.h"

#include "api/meta/resource_version.h"

namespace gpupool::controllers {
namespace {

// The ledger is seldom more than a change behind. Of a job with more changes the oldest are forgotten.
constexpr std::size_t kMaxSeen = 16;

}  // namespace

BillVersions::BillVersions(Caches& caches) {
  caches.jobs.on_change([this](const runtime::Change<api::GpuJob>& change) { on_job(change); });
}

void BillVersions::on_job(const runtime::Change<api::GpuJob>& change) {
  const bool replaced =
      change.before && (!change.after || change.after->metadata.uid != change.before->metadata.uid);
  const auto* bill = change.after ? change.after->status.bill() : nullptr;
  if (!replaced && bill == nullptr) return;
  const base::MutexLock lock(mutex_);
  if (replaced) seen_.erase(change.before->metadata.uid);
  if (bill == nullptr) return;
  auto& seen = seen_[change.after->metadata.uid];
  if (!seen.empty() && seen.back().segments == bill->segment_count) return;
  if (seen.size() == kMaxSeen) seen.erase(seen.begin());
  seen.push_back({api::version_number(change.after->metadata.resource_version), bill->segment_count});
}

std::uint64_t BillVersions::version_of(const api::GpuJob& job) const {
  const base::MutexLock lock(mutex_);
  const auto found = seen_.find(job.metadata.uid);
  const auto* bill = job.status.bill();
  if (found != seen_.end() && bill != nullptr && found->second.back().segments == bill->segment_count)
    return found->second.back().version;
  return api::version_number(job.metadata.resource_version);
}

std::optional<std::int64_t> BillVersions::segments_at(const std::string& uid, std::uint64_t version) const {
  const base::MutexLock lock(mutex_);
  const auto found = seen_.find(uid);
  if (found == seen_.end()) return std::nullopt;
  std::optional<std::int64_t> segments;
  for (const auto& seen : found->second) {
    if (seen.version <= version) segments = seen.segments;
  }
  return segments;
}

}  // namespace gpupool::controllers
