// SPDX-License-Identifier: Apache-2.0
#include "controllers/cluster/job_writer.h"

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/status_json.h"
#include "controllers/cluster/finalizer_patch.h"

namespace gpupool::controllers {

base::Result<JobWriter::Job> JobWriter::keep(const api::GpuJob& job, const base::Result<std::string>& answer,
                                             std::stop_token stop) {
  if (!answer && answer.error().code == base::ErrorCode::kConflict) {
    auto fresh = kube::get<api::GpuJob>(client_, job.metadata.key(), stop);
    if (fresh && fresh->metadata.uid == job.metadata.uid) caches_.newest_jobs.answered(*std::move(fresh));
  }
  auto written = kube::decode<api::GpuJob>(answer);
  if (!written) return tl::unexpected<base::Error>(written.error());
  return caches_.newest_jobs.answered(*std::move(written));
}

base::Result<JobWriter::Job> JobWriter::write_status(const api::GpuJob& job, const api::GpuJobStatus& status,
                                                     std::stop_token stop) {
  const auto body = api::status_update(job.metadata, status);
  return keep(job, client_.update(api::GpuJob::kType, job.metadata.key(), body, "status", stop), stop);
}

base::Result<JobWriter::Job> JobWriter::add_finalizer(const api::GpuJob& job, std::stop_token stop) {
  const auto patch = finalizer_patch(job.metadata, api::kLease, true);
  return keep(job,
              client_.patch(api::GpuJob::kType, job.metadata.key(), kube::PatchType::kJson, patch, "", stop),
              stop);
}

base::Result<void> JobWriter::remove_finalizer(const api::GpuJob& job, std::stop_token stop) {
  const auto patch = finalizer_patch(job.metadata, api::kLease, false);
  if (patch.empty()) return {};
  const auto done = keep(
      job, client_.patch(api::GpuJob::kType, job.metadata.key(), kube::PatchType::kJson, patch, "", stop),
      stop);
  if (done || done.error().code == base::ErrorCode::kNotFound) return {};
  return tl::unexpected<base::Error>(done.error());
}

base::Result<void> JobWriter::confirm(const api::GpuJob& job, std::stop_token stop) {
  auto live = kube::get<api::GpuJob>(client_, job.metadata.key(), stop);
  if (!live) return tl::unexpected<base::Error>(live.error());
  const auto& now = live->metadata;
  if (now.uid == job.metadata.uid && now.resource_version == job.metadata.resource_version) return {};
  if (now.uid == job.metadata.uid) caches_.newest_jobs.answered(*std::move(live));
  return base::fail(base::ErrorCode::kConflict, "the job has changed since it was looked at");
}

base::Result<void> JobWriter::remove(const api::GpuJob& job, std::stop_token stop) {
  kube::DeleteOptions options;
  options.uid = job.metadata.uid;
  const auto done = client_.remove(api::GpuJob::kType, job.metadata.key(), options, stop);
  if (done || done.error().code == base::ErrorCode::kNotFound) return {};
  return tl::unexpected<base::Error>(done.error());
}

}  // namespace gpupool::controllers
