#include "planning/job_status.h"

#include "api/v1alpha1/reasons.h"

namespace gpupool::planning {
namespace {

namespace phase = api::phase;
constexpr std::size_t kMaxNodeSummary = 100;
constexpr std::size_t kMaxMessage = 4096;

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

bool holds_nodes(const api::GpuJobStatus& status) {
  return status.lease &&
         (status.lease->state != api::lease_state::kReleasing || !status.lease->nodes.empty());
}

void settle_status(api::GpuJobStatus& status, std::int64_t generation, const std::optional<Problem>& stalled,
                   base::WallTime now) {
  status.observed_generation = generation;
  if (stalled) {
    status.reason = stalled->reason;
    status.message = stalled->message;
  }
  if (status.message.size() > kMaxMessage) status.message.resize(kMaxMessage);
  const bool held = holds_nodes(status);
  const bool succeeded = !held && status.phase == phase::kSucceeded;
  const bool failed = !held && status.phase == phase::kFailed;
  const bool suspended = status.phase == phase::kSuspended;
  const bool running = status.phase == phase::kRunning;
  const bool stuck = stalled.has_value() || failed;  // kstatus calls a resource failed when it is Stalled
  // As for a batch/v1 Job, kstatus' InProgress ends when the workers run: what was applied is done.
  const bool reconciling = !stuck && !succeeded && !suspended && !running;
  const bool leased = held && status.lease->state != api::lease_state::kTaking &&
                      status.lease->state != api::lease_state::kReleasing;
  Conditions conditions(status, generation, now);
  const auto& reason = status.reason;
  conditions.set("Reconciling", reconciling, reason, reconciling ? status.message : "");
  conditions.set("Stalled", stuck, stuck ? reason : "NotStalled", stuck ? status.message : "");
  conditions.set("Complete", succeeded, succeeded ? reason : "NotComplete", succeeded ? status.message : "");
  conditions.set("Failed", failed, failed ? reason : "NotFailed", failed ? status.message : "");
  conditions.set("Suspended", suspended, suspended ? reason : "NotSuspended", "");
  conditions.set("Leased", leased, leased ? "NodesHeld" : "NoNodes", "");
  conditions.set("Running", running, running ? reason : "NotRunning", "");
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
