// SPDX-License-Identifier: Apache-2.0
#include "controllers/sweep/sweep_writer.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "api/v1alpha1/reasons.h"
#include "api/v1alpha1/status_json.h"
#include "kube/api_error.h"
#include "planning/sweep/trial_job.h"

namespace gpupool::controllers {
namespace {

namespace reason = api::reason;

// Requests at the same time: the server answers one in 3 to 10 ms.
constexpr std::size_t kThreads = 4;
// In messages of the admission plugin ResourceQuota.
constexpr char kExceededQuota[] = "exceeded quota";

// What the server's refusal of a trial's job means for the sweep. Nothing if the request can be tried again.
std::optional<api::Problem> problem_of(const base::Error& error) {
  if (kube::is_namespace_terminating(error))
    return api::Problem{reason::kNamespaceTerminating, "its namespace is being deleted: " + error.message};
  if (error.code == base::ErrorCode::kForbidden) {
    const bool quota = error.message.find(kExceededQuota) != std::string::npos;
    return api::Problem{quota ? reason::kQuotaExceeded : reason::kForbidden, error.message};
  }
  if (kube::is_refusal(error))
    return api::Problem{reason::kTemplateRefused, "the API server refused the jobs: " + error.message};
  return std::nullopt;
}

}  // namespace

base::Result<SweepWriter::Sweep> SweepWriter::keep(const api::GpuSweep& sweep,
                                                   const base::Result<std::string>& answer,
                                                   std::stop_token stop) {
  if (!answer && answer.error().code == base::ErrorCode::kConflict) {
    auto fresh = kube::get<api::GpuSweep>(client_, sweep.metadata.key(), std::move(stop));
    if (fresh && fresh->metadata.uid == sweep.metadata.uid) caches_.newest_sweeps.answered(*std::move(fresh));
  }
  auto written = kube::decode<api::GpuSweep>(answer);
  if (!written) return tl::unexpected<base::Error>(written.error());
  return caches_.newest_sweeps.answered(*std::move(written));
}

base::Result<SweepWriter::Sweep> SweepWriter::write_status(const api::GpuSweep& sweep,
                                                           const api::GpuSweepStatus& status,
                                                           std::stop_token stop) {
  const auto body = api::status_update(sweep.metadata, status);
  return keep(sweep, client_.update(api::GpuSweep::kType, sweep.metadata.key(), body, "status", stop), stop);
}

base::Result<void> SweepWriter::confirm(const api::GpuSweep& sweep, std::stop_token stop) {
  auto live = kube::get<api::GpuSweep>(client_, sweep.metadata.key(), std::move(stop));
  if (!live) return tl::unexpected<base::Error>(live.error());
  const auto& now = live->metadata;
  if (now.uid == sweep.metadata.uid && now.resource_version == sweep.metadata.resource_version) return {};
  if (now.uid == sweep.metadata.uid) caches_.newest_sweeps.answered(*std::move(live));
  return base::fail(base::ErrorCode::kConflict, "the sweep has changed since it was looked at");
}

SweepWriter::Created SweepWriter::create(const api::GpuSweep& sweep, const std::vector<std::int64_t>& trials,
                                         const planning::TrialSpace& space, const std::stop_token& stop) {
  std::vector<Created> parts(std::min(kThreads, trials.size()));
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&](Created& part) {
    while (!failed && !stop.stop_requested()) {
      const auto i = next++;
      if (i >= trials.size()) return;
      create_one(sweep, trials[i], space, part, stop);
      if (part.problem || part.error) failed = true;
    }
  };
  if (parts.size() == 1) {  // the usual case: one trial has ended
    work(parts.front());
    return std::move(parts.front());
  }
  {
    std::vector<std::jthread> threads;
    threads.reserve(parts.size());
    for (auto& part : parts) threads.emplace_back([&] { work(part); });
  }
  Created all;
  for (auto& part : parts) {
    all.taken.merge(part.taken);
    if (part.problem) all.problem = std::move(part.problem);
    if (part.error) all.error = std::move(part.error);
  }
  return all;
}

void SweepWriter::create_one(const api::GpuSweep& sweep, std::int64_t trial,
                             const planning::TrialSpace& space, Created& created,
                             const std::stop_token& stop) {
  const api::ObjectKey key{sweep.metadata.ns, planning::trial_job_name(sweep.metadata.name, trial)};
  runtime::ReadYourWrites<api::GpuJob>::Creation creation(caches_.newest_jobs, key);
  const auto body = planning::trial_job(sweep, trial, space.parameters(trial));
  auto answer = kube::decode<api::GpuJob>(client_.create(api::GpuJob::kType, key.ns, body, stop));
  if (!answer && answer.error().code == base::ErrorCode::kAlreadyExists) {
    answer = kube::get<api::GpuJob>(client_, key, stop);
    // Gone meanwhile, or left by an earlier sweep of this name and soon to be deleted: tried again.
    if (answer && !planning::trial_of(*answer, sweep)) {
      if (!planning::is_of_earlier_sweep(*answer, sweep)) {
        created.taken.insert(trial);
        return;
      }
      created.error = base::Error{base::ErrorCode::kConflict,
                                  "GpuJob " + key.to_string() + " of an earlier sweep is not deleted yet"};
      return;
    }
  }
  if (answer) return creation.created(*std::move(answer));
  if (auto problem = problem_of(answer.error())) {
    created.problem = std::move(problem);
  } else {
    created.error = answer.error();
  }
}

std::optional<api::Problem> SweepWriter::rehearse(const api::GpuSweep& sweep,
                                                  const planning::TrialSpace& space, std::stop_token stop) {
  const auto body = planning::trial_job(sweep, 0, space.parameters(0));
  const auto answer = client_.try_create(api::GpuJob::kType, sweep.metadata.ns, body, std::move(stop));
  if (answer || answer.error().code != base::ErrorCode::kInvalid) return std::nullopt;
  return api::Problem{reason::kTemplateRefused, "the API server refuses the jobs: " + answer.error().message};
}

base::Result<bool> SweepWriter::exists(const api::GpuSweep& sweep, std::int64_t trial, std::stop_token stop) {
  const api::ObjectKey key{sweep.metadata.ns, planning::trial_job_name(sweep.metadata.name, trial)};
  const auto job = kube::get<api::GpuJob>(client_, key, std::move(stop));
  if (job) return planning::trial_of(*job, sweep).has_value();
  if (job.error().code == base::ErrorCode::kNotFound) return false;
  return tl::unexpected<base::Error>(job.error());
}

base::Result<void> SweepWriter::remove(const api::GpuJob& job, std::stop_token stop) {
  kube::DeleteOptions options;
  options.uid = job.metadata.uid;
  const auto done = client_.remove(api::GpuJob::kType, job.metadata.key(), options, std::move(stop));
  const bool is_other = !done && done.error().code == base::ErrorCode::kConflict;
  if (done || is_other || done.error().code == base::ErrorCode::kNotFound) return {};
  return tl::unexpected<base::Error>(done.error());
}

base::Result<void> SweepWriter::suspend(const api::GpuJob& job, bool suspend, std::stop_token stop) {
  const std::string patch = std::string(R"({"metadata":{"uid":)") + base::json::quote(job.metadata.uid) +
                            R"(},"spec":{"suspend":)" + (suspend ? "true" : "false") + "}}";
  auto done = kube::decode<api::GpuJob>(client_.patch(api::GpuJob::kType, job.metadata.key(),
                                                      kube::PatchType::kMerge, patch, "", std::move(stop)));
  if (done) {
    caches_.newest_jobs.answered(*std::move(done));
    return {};
  }
  if (done.error().code == base::ErrorCode::kNotFound || done.error().code == base::ErrorCode::kConflict)
    return {};  // gone, or another job of this name
  return tl::unexpected<base::Error>(done.error());
}

}  // namespace gpupool::controllers
