// SPDX-License-Identifier: Apache-2.0
#include "planning/job/job_status.h"

#include <algorithm>

#include "api/v1alpha1/last_lines.h"
#include "api/v1alpha1/reasons.h"

namespace gpupool::planning {
namespace {

namespace calm = api::condition_reason;
namespace phase = api::phase;
namespace reason = api::reason;
constexpr std::size_t kMaxNodeSummary = 100;
constexpr std::size_t kMaxMessage = 4096;
constexpr std::int64_t kMaxSlices = 1'000'000;  // an old server does not check the field

class Conditions {
 public:
  Conditions(api::GpuJobStatus& status, std::int64_t generation, base::WallTime now)
      : status_(status), generation_(generation), now_(now) {}

  void set(const std::string& type, bool value, const std::string& reason, const std::string& message) {
    api::Condition condition;
    condition.type = type;
    condition.status = value ? "True" : "False";
    condition.observed_generation = generation_;
    condition.reason = reason.empty() ? type : reason;
    condition.message = message;
    api::set_condition(status_.conditions, std::move(condition), now_);
  }

 private:
  api::GpuJobStatus& status_;
  std::int64_t generation_;
  base::WallTime now_;
};

}  // namespace

bool needs_correction(const std::string& why) {
  return why == reason::kInvalidSpec || why == reason::kInvalidTemplate || why == reason::kTemplateRefused ||
         why == reason::kSliceInExclusivePool || why == reason::kNameConflict || why == reason::kPoolNotFound;
}

bool holds_nodes(const api::GpuJobStatus& status) {
  return status.lease &&
         (status.lease->state != api::lease_state::kReleasing || !status.lease->nodes.empty());
}

bool awaits_others(const api::GpuJobStatus& status) {
  return status.lease && status.lease->state == api::lease_state::kAwaiting;
}

// Without it, an empty JobProgress goes, as it would by writing and reading the status.
void set_turn(api::GpuJobStatus& status, const base::Boxed<api::JobQueueStatus>& turn) {
  if (turn && !status.progress) status.progress.emplace();
  if (!status.progress) return;
  status.progress->queue = turn;
  if (*status.progress == api::JobProgress()) status.progress.reset();
}

void settle_status(api::GpuJobStatus& status, std::int64_t generation,
                   const std::optional<api::Problem>& stalled, base::WallTime now) {
  status.observed_generation = generation;
  if (stalled) {
    status.reason = stalled->reason;
    status.message = stalled->message;
  }
  if (status.message.size() > kMaxMessage) status.message.resize(kMaxMessage);
  const bool held = holds_nodes(status) && !awaits_others(status);
  if (status.phase == phase::kQueued && stalled && needs_correction(stalled->reason))
    status.phase = phase::kInvalid;
  const bool waits =
      status.phase == phase::kQueued || status.phase == phase::kInvalid || status.phase == phase::kSuspended;
  if (waits && !held) {
    status.node_names.clear();
    status.master.clear();
  }
  const bool succeeded = !held && status.phase == phase::kSucceeded;
  const bool failed = !held && status.phase == phase::kFailed;
  const bool suspended = status.phase == phase::kSuspended;
  const bool running = status.phase == phase::kRunning;
  const bool stuck = stalled.has_value() || failed;  // for kstatus, Stalled means failed
  // As with a batch/v1 Job, kstatus' InProgress ends when the workers run.
  const bool reconciling = !stuck && !succeeded && !suspended && !running;
  const bool leased = held && status.lease->state != api::lease_state::kTaking &&
                      status.lease->state != api::lease_state::kReleasing;
  Conditions conditions(status, generation, now);
  const auto& why = status.reason;
  // What a success has printed is in the status once; what a failure has printed, in its conditions too.
  const std::string calm_message(stuck ? status.message : api::without_last_lines(status.message));
  conditions.set("Reconciling", reconciling, why, reconciling ? calm_message : "");
  conditions.set("Stalled", stuck, stuck ? why : calm::kNotStalled, stuck ? status.message : "");
  conditions.set("Complete", succeeded, succeeded ? why : calm::kNotComplete, succeeded ? calm_message : "");
  conditions.set("Failed", failed, failed ? why : calm::kNotFailed, failed ? status.message : "");
  conditions.set("Suspended", suspended, suspended ? why : calm::kNotSuspended, "");
  conditions.set("Leased", leased, leased ? calm::kNodesHeld : calm::kNoNodes, "");
  conditions.set("Running", running, running ? why : calm::kNotRunning, "");
}

std::string requested_gpus(const api::GpuJobSpec& spec) {
  if (!spec.slice) return std::to_string(spec.gpus);
  const auto& slice = *spec.slice;
  const auto workers = api::worker_count(spec);
  if (slice.count) {
    const auto all = workers * std::clamp<std::int64_t>(*slice.count, 0, kMaxSlices);
    return std::to_string(all) + (all == 1 ? " slice" : " slices");
  }
  const auto cores = slice.cores ? std::to_string(*slice.cores) + "%" : std::string();
  const auto* const between = slice.memory.empty() || cores.empty() ? "" : "/";
  return std::to_string(workers) + "x" + slice.memory + between + cores;
}

std::string summarize_nodes(const std::vector<api::NodeRef>& nodes) {
  std::string text;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!text.empty() && text.size() + nodes[i].name.size() > kMaxNodeSummary) {
      return text + ",+" + std::to_string(nodes.size() - i);
    }
    if (!text.empty()) text += ",";
    text += nodes[i].name;
  }
  return text;
}

bool wants_nodes(const api::GpuJob& job) {
  return !holds_nodes(job.status) && !job.metadata.deleting() && !job.spec.suspend &&
         job.status.phase != api::phase::kSucceeded && job.status.phase != api::phase::kFailed;
}

}  // namespace gpupool::planning
