#include "controllers/cluster/job_writer.h"

#include <algorithm>

#include "api/v1alpha1/status_json.h"
#include "kube/patch.h"

namespace gpupool::controllers {
namespace {

std::optional<std::size_t> index_of(const std::vector<std::string>& finalizers) {
  const auto found = std::find(finalizers.begin(), finalizers.end(), api::kLease);
  if (found == finalizers.end()) return std::nullopt;
  return static_cast<std::size_t>(found - finalizers.begin());
}

}  // namespace

base::Result<JobWriter::Job> JobWriter::remember(const api::GpuJob& job,
                                                 const base::Result<std::string>& answer,
                                                 std::stop_token stop) {
  if (!answer && answer.error().code == base::ErrorCode::kConflict) {
    auto fresh = kube::get<api::GpuJob>(client_, job.metadata.key(), stop);
    if (fresh && fresh->metadata.uid == job.metadata.uid) caches_.newest_jobs.remember(*std::move(fresh));
  }
  auto written = kube::decode<api::GpuJob>(answer);
  if (!written) return tl::unexpected<base::Error>(written.error());
  return caches_.newest_jobs.remember(*std::move(written));
}

base::Result<JobWriter::Job> JobWriter::write_status(const api::GpuJob& job, const api::GpuJobStatus& status,
                                                     std::stop_token stop) {
  const auto patch = api::status_patch(job.metadata.resource_version, status);
  return remember(
      job,
      client_.patch(api::GpuJob::kType, job.metadata.key(), kube::PatchType::kMerge, patch, "status", stop),
      stop);
}

base::Result<JobWriter::Job> JobWriter::add_finalizer(const api::GpuJob& job, std::stop_token stop) {
  kube::JsonPatch patch;
  patch.only_if_version(job.metadata.resource_version);
  const auto name = base::json::quote(api::kLease);
  if (job.metadata.finalizers.empty()) {
    patch.add("/metadata/finalizers", "[" + name + "]");
  } else {
    patch.add("/metadata/finalizers/-", name);
  }
  return remember(
      job,
      client_.patch(api::GpuJob::kType, job.metadata.key(), kube::PatchType::kJson, patch.text(), "", stop),
      stop);
}

base::Result<void> JobWriter::remove_finalizer(const api::GpuJob& job, std::stop_token stop) {
  const auto index = index_of(job.metadata.finalizers);
  if (!index) return {};
  kube::JsonPatch patch;
  patch.only_if_version(job.metadata.resource_version);
  patch.remove(kube::json_pointer({"metadata", "finalizers", std::to_string(*index)}));
  const auto done = remember(
      job,
      client_.patch(api::GpuJob::kType, job.metadata.key(), kube::PatchType::kJson, patch.text(), "", stop),
      stop);
  if (done || done.error().code == base::ErrorCode::kNotFound) return {};
  return tl::unexpected<base::Error>(done.error());
}

base::Result<void> JobWriter::remove(const api::GpuJob& job, std::stop_token stop) {
  kube::DeleteOptions options;
  options.uid = job.metadata.uid;
  const auto done = client_.remove(api::GpuJob::kType, job.metadata.key(), options, stop);
  if (done || done.error().code == base::ErrorCode::kNotFound) return {};
  return done;
}

}  // namespace gpupool::controllers
