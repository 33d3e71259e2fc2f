#pragma once

#include <memory>
#include <stop_token>

#include "controllers/cluster/caches.h"
#include "kube/client.h"

namespace gpupool::controllers {

// Writes to GpuJobs; each is refused with kConflict unless the job is still as it was read. Then the job is
// read anew, so that the next reconcile starts from the truth. Thread-safe.
class JobWriter {
 public:
  using Job = std::shared_ptr<const api::GpuJob>;

  JobWriter(kube::Client& client, Caches& caches) : client_(client), caches_(caches) {}

  base::Result<Job> write_status(const api::GpuJob& job, const api::GpuJobStatus& status,
                                 std::stop_token stop);
  base::Result<Job> add_finalizer(const api::GpuJob& job, std::stop_token stop);
  // Ours only, by index.
  base::Result<void> remove_finalizer(const api::GpuJob& job, std::stop_token stop);
  // Before what cannot be taken back: kConflict unless the server has the job in just this version. A cache
  // may be behind, or ahead of a server that was taken back to an older state.
  base::Result<void> confirm(const api::GpuJob& job, std::stop_token stop);
  base::Result<void> remove(const api::GpuJob& job, std::stop_token stop);

 private:
  base::Result<Job> remember(const api::GpuJob& job, const base::Result<std::string>& answer,
                             std::stop_token stop);

  kube::Client& client_;
  Caches& caches_;
};

}  // namespace gpupool::controllers
