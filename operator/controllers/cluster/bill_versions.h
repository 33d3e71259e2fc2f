// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "base/mutex.h"
#include "controllers/cluster/caches.h"

namespace gpupool::controllers {

// In which resourceVersions jobs got the segments of their bills, as far as the watch has shown it. The
// ledger says up to which version it has entered all jobs (GpuLedger, GpuAccount); this tells which segments
// these are. Remembers the last changes of each job that has segments. Thread-safe.
class BillVersions {
 public:
  // REQUIRES: caches outlives this; constructed before the manager runs.
  explicit BillVersions(Caches& caches);

  // The version in which the job got its last segment; the job's own one if the watch has not shown that yet.
  std::uint64_t version_of(const api::GpuJob& job) const;
  // How many segments the job had in that version; nothing: the watch began later, or has not shown the job.
  std::optional<std::int64_t> segments_at(const std::string& uid, std::uint64_t version) const;

 private:
  struct Seen {
    std::uint64_t version = 0;
    std::int64_t segments = 0;
  };
  void on_job(const runtime::Change<api::GpuJob>& change);

  mutable base::Mutex mutex_;
  std::map<std::string, std::vector<Seen>> seen_ GPUPOOL_GUARDED_BY(mutex_);  // by UID, in order
};

}  // namespace gpupool::controllers
