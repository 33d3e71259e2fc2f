// SPDX-License-Identifier: Apache-2.0
#include "planning/job/plan_move.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/job_validation.h"
#include "planning/job/lease_changes.h"
#include "planning/job/plan_restart.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;

constexpr std::string_view kNotDone = "the restart is not done, the workers run on: ";
constexpr base::Duration kTriedAgain = std::chrono::seconds(30);  // what the server refuses may change

constexpr std::size_t kMaxToken = 128;  // of the annotation; more is not kept

std::string token_of(const api::GpuJob& job) {
  return job.metadata.annotation(api::kRestart).substr(0, kMaxToken);
}

bool is_asked(const api::GpuJob& job) {
  const auto token = token_of(job);
  return !token.empty() && (!job.status.progress || job.status.progress->restarted != token);
}

api::GpuJobStatus accepted(const Observation& seen) {
  auto status = seen.job.status;
  if (!status.progress) status.progress.emplace();
  status.progress->restarted = token_of(seen.job);
  return status;
}

// What the server has said before, while it cannot be asked again.
std::optional<api::Problem> last_answer(const Observation& seen) {
  const auto& status = seen.job.status;
  if (seen.pod_rehearsal.until == base::Duration::zero() || !status.message.starts_with(kNotDone))
    return std::nullopt;
  return api::Problem{status.reason, status.message};
}

// True if the lease suits the spec as it is now, but for what its workers run.
bool suits(const api::GpuJob& job, const api::GpuPool* pool) {
  const auto& lease = *job.status.lease;
  const auto& spec = job.spec;
  if (pool == nullptr || spec.pool != pool->metadata.name) return false;
  if (api::worker_count(spec) != job.status.workers.total) return false;
  if (spec.nodes.empty()) return true;
  return std::ranges::all_of(lease.nodes, [&](const api::NodeRef& node) {
    const auto names = [&](const std::vector<std::string>& list) {
      return std::ranges::find(list, node.name) != list.end();
    };
    return names(spec.nodes) || (spec.backup_nodes && names(*spec.backup_nodes));
  });
}

}  // namespace

std::optional<api::Problem> why_not_restarted(const Observation& seen) {
  if (!is_asked(seen.job)) return std::nullopt;
  auto problem = validate_job(seen.job, seen.pool.get(), *seen.template_fields);
  if (!problem) problem = seen.pod_rehearsal.problem;
  if (!problem) return last_answer(seen);
  problem->message = std::string(kNotDone) + problem->message;
  return problem;
}

std::optional<base::Duration> until_restart_is_tried(const Observation& seen) {
  if (!is_asked(seen.job)) return std::nullopt;
  if (seen.pod_rehearsal.problem) return kTriedAgain;
  if (seen.pod_rehearsal.until == base::Duration::zero()) return std::nullopt;
  return seen.pod_rehearsal.until;
}

std::optional<Step> restart_as_asked(const Observation& seen) {
  if (!is_asked(seen.job) || why_not_restarted(seen)) return std::nullopt;
  if (!seen.pod_rehearsal.done) return step::RehearsePod{};
  if (seen.pod_rehearsal.until > base::Duration::zero()) return std::nullopt;
  if (!seen.live) return step::LookLive{};
  auto status = accepted(seen);
  if (!suits(seen.job, seen.pool.get())) {
    return release(seen, std::move(status), api::outcome::kQueued,
                   {reason::kMoving, "a restart was requested, and the spec wants other nodes"}, false);
  }
  status.lease->spec_hash = api::spec_hash(seen.job.spec);
  return restart(seen, std::move(status),
                 {reason::kMoving, "a restart was requested; the attempt is not charged"});
}

void accept_restart(const api::GpuJob& job, api::GpuJobStatus& status) {
  if (!is_asked(job) || api::spec_hash(job.spec) != status.lease->spec_hash) return;
  if (!status.progress) status.progress.emplace();
  status.progress->restarted = token_of(job);
}

}  // namespace gpupool::planning
