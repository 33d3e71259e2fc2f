// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stop_token>

#include "controllers/cluster/caches.h"
#include "kube/client.h"

namespace gpupool::controllers {

// Writes GpuJobs. The server refuses a write with kConflict if the job has changed since it was read. Then
// the job is read again, so that the next reconcile uses its current state. Called by reconcile threads;
// thread-safe.
class JobWriter {
 public:
  using Job = std::shared_ptr<const api::GpuJob>;

  JobWriter(kube::Client& client, Caches& caches) : client_(client), caches_(caches) {}

  base::Result<Job> write_status(const api::GpuJob& job, const api::GpuJobStatus& status,
                                 std::stop_token stop);
  base::Result<Job> add_finalizer(const api::GpuJob& job, std::stop_token stop);
  // Removes only our finalizer, by its index.
  base::Result<void> remove_finalizer(const api::GpuJob& job, std::stop_token stop);
  // Call before a step that cannot be undone. Returns kConflict unless the server has the job in exactly this
  // version: a cache may be behind, or ahead of a server that was restored from a backup.
  base::Result<void> confirm(const api::GpuJob& job, std::stop_token stop);
  base::Result<void> remove(const api::GpuJob& job, std::stop_token stop);

 private:
  base::Result<Job> keep(const api::GpuJob& job, const base::Result<std::string>& answer,
                         std::stop_token stop);

  kube::Client& client_;
  Caches& caches_;
};

}  // namespace gpupool::controllers
