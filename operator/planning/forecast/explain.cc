// SPDX-License-Identifier: Apache-2.0
#include "planning/forecast/explain.h"

#include <algorithm>
#include <utility>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "base/rfc3339.h"
#include "planning/forecast/explain_text.h"
#include "planning/forecast/forecast.h"
#include "planning/forecast/latest_start.h"
#include "planning/forecast/pool_picture.h"
#include "planning/forecast/sooner.h"
#include "planning/job/job_status.h"
#include "planning/job/line_entry.h"
#include "planning/slices/slice_size.h"

namespace gpupool::planning {
namespace {

namespace phase = api::phase;
namespace reason = api::reason;

// Together less than 2 KiB of JSON.
constexpr std::size_t kMostRequest = 64;
constexpr std::size_t kMostText = 760;
constexpr std::size_t kMostHead = 240;
constexpr std::size_t kMostPart = 80;

// Replaces what JSON writes as several bytes.
std::string plain(std::string text, char instead) {
  for (auto& byte : text) {
    if (byte == '"' || byte == '\\') byte = instead;
    if (static_cast<unsigned char>(byte) < ' ') byte = ' ';
  }
  return text;
}

std::string since_text(const std::optional<base::WallTime>& begin, base::WallTime now) {
  if (!begin || *begin > now) return "";
  return " for " + duration_text(std::chrono::duration_cast<base::Duration>(now - *begin));
}

std::string told(const api::GpuJobStatus& status) {
  return status.reason + (status.message.empty() ? "" : ": " + status.message);
}

std::string ended_text(const api::GpuJob& job) {
  const auto& status = job.status;
  std::string text = status.phase == phase::kSucceeded ? "ended with success" : "failed";
  if (status.completion_time) text += " at " + base::to_rfc3339(*status.completion_time);
  return text + ", and does not run again. " + told(status);
}

std::string running_text(const api::GpuJob& job, base::WallTime now) {
  const auto& status = job.status;
  auto text = "runs" + since_text(status.start_time, now) + " on " + status.node_names;
  if (const auto& deadline = job.spec.active_deadline_seconds; deadline && status.start_time)
    text += "; it ends at the latest at " +
            base::to_rfc3339(*status.start_time + std::chrono::seconds(*deadline)) + ", by its deadline";
  return text + ". " + told(status);
}

std::string holding_text(const api::GpuJob& job, base::WallTime now) {
  const auto& status = job.status;
  const auto& lease = *status.lease;
  if (awaits_others(status))
    return "other jobs make room for it" + since_text(lease.since, now) + ". " + told(status);
  if (lease.state == api::lease_state::kReleasing) {
    return "gives its nodes back" + since_text(lease.since, now) + " (then: " + lease.outcome.string() +
           "). " + told(status);
  }
  if (status.phase == phase::kRunning) return running_text(job, now);
  if (lease.state == api::lease_state::kRestarting) {
    auto text = "starts its workers again, on the same nodes " + status.node_names;
    if (lease.not_before && *lease.not_before > now)
      text += ", not before " + base::to_rfc3339(*lease.not_before);
    return text + ". " + told(status);
  }
  return "has its nodes " + status.node_names + " and starts" + since_text(lease.since, now) + ". " +
         told(status);
}

std::string retry_text(base::Duration until) {
  const auto left = std::chrono::duration_cast<std::chrono::seconds>(until);
  return left.count() <= 0 ? "now" : "in " + duration_text(left);
}

// A job without nodes that has no place in the queue.
std::string outside_text(const api::GpuJob& job, base::WallTime now) {
  const auto& status = job.status;
  if (status.reason == reason::kPlacementRefused) {
    return "waits, because the node that it got did not take a worker; it is placed again " +
           retry_text(until_placed_again(job, now)) + ". " + told(status);
  }
  if (const auto stalled = standing_stall(job)) {
    const auto again = is_retried(*stalled)
                           ? "; the API server is asked again " + retry_text(until_retry(job, now))
                           : "; somebody has to change it";
    return "does not wait for nodes: the API server would refuse its workers" + again + ". " + told(status);
  }
  if (status.phase == phase::kInvalid)
    return "does not wait for nodes: it cannot run as it is written, and starts when that is corrected. " +
           told(status);
  return status.phase.string() + ". " + told(status);
}

std::string head_of(const Question& question) {
  const auto& job = question.job;
  const auto& status = job.status;
  if (holds_nodes(status)) return holding_text(job, question.now);
  if (job.metadata.deleting()) return "is being deleted. " + told(status);
  if (status.phase == phase::kSucceeded || status.phase == phase::kFailed) return ended_text(job);
  if (status.phase == phase::kSuspended || job.spec.suspend)
    return "is suspended, and has no place in the queue. " + told(status);
  if (question.queue == nullptr) return outside_text(job, question.now);
  const auto where = " in pool " + job.spec.pool;
  if (question.queue->granted) return "takes nodes" + where + " now";
  const auto wait = "waits" + since_text(job.metadata.creation_timestamp, question.now) + where + ". ";
  if (question.queue->closed) return wait + told(status);
  if (status.reason != reason::kWaitingForNodes) return wait + told(status);
  return wait + status.reason;
}

std::string wants_of(const QueueSnapshot& queue) {
  const auto& demand = queue.entry().demand();
  const auto& job = *queue.entry().job();
  std::string text;
  if (queue.pool->spec.sharing) {
    const auto need = need_of(job.spec, queue.pool->spec.rents_gpus());
    text = std::to_string(demand.workers) + (demand.workers == 1 ? " worker with " : " workers with ") +
           need.text() + (demand.workers == 1 ? "" : " each") + near_text(demand.near);
  } else {
    text = demand.text();
  }
  if (!demand.nodes.empty()) text += ", on the nodes of spec.nodes";
  return text;
}

// cut: set if the budget did not suffice for the likely start.
api::ExplainedStart start_of(const Question& question, Budget& budget, bool& cut) {
  const auto& queue = *question.queue;
  Budget latest_budget = budget;  // each has the number of events; both end at the same time
  const auto latest = latest_start(queue, question.now, latest_budget);
  const auto likely = likely_start(queue, question.history, question.now, budget);
  cut = likely.cut;
  api::ExplainedStart start;
  start.latest = latest.at;
  start.without_deadline = latest.without_deadline;
  start.from = likely.from;
  start.to = likely.to;
  if (latest.at && likely.to) {
    start.from = std::min(*likely.from, *latest.at);
    start.to = std::min(*likely.to, *latest.at);
  }
  if (likely.from) {
    start.samples = likely.samples;
    const bool deadlines = likely.used_deadlines;
    start.basis = likely.samples > 0 ? (deadlines ? api::start_basis::kMixed : api::start_basis::kHistory)
                  : deadlines        ? api::start_basis::kDeadlines
                                     : api::start_basis::kNow;
  }
  return start;
}

// Whose turn it is depends on all tenants there, and is found every 30 s (forecast_turns): the status of the
// job tells it.
std::string turn_line(const api::GpuJob& job) {
  const auto& status = job.status;
  if (!status.progress || !status.progress->queue) return "";
  const auto& turn = *status.progress->queue;
  constexpr std::int64_t kExact = 10;
  std::string text = "turn: tenant " + turn.tenant;
  if (turn.place > 0)
    text += (turn.place > kExact ? ", place at most " : ", place ") + std::to_string(turn.place);
  if (turn.basis == api::estimate_basis::kBounds)
    return text + "; starts by " + base::to_rfc3339(*turn.estimated_start) + " at the latest, by deadlines";
  if (turn.estimated_start)
    return text + "; likely starts at " + base::to_rfc3339(*turn.estimated_start) +
           ", as jobs like those before it ran";
  if (turn.place == 0)
    return text + "; when it starts is not estimated: it is not among the first 100 that may start";
  return text + "; when it starts is not known: a job before it has neither a deadline nor a history";
}

// Returns whether the queue was too long to be run forward.
bool read_queue(const Question& question, Budget& budget, api::Explanation& answer) {
  const auto& queue = *question.queue;
  answer.wants = shortened(wants_of(queue), kMostPart);
  auto picture = picture_of(queue);
  for (auto& why : picture.why) why = shortened(why, kMostPart);
  answer.pool = std::move(picture);
  if (queue.pool->spec.queue) return false;  // turn_line()
  answer.ahead = queue_before(queue);
  if (queue.closed || queue.too_many()) return queue.too_many();
  bool cut = false;
  // A job that could not run even alone has no start.
  if (question.job.status.reason == reason::kWaitingForNodes) answer.start = start_of(question, budget, cut);
  Budget sooner_budget = budget;
  answer.sooner = what_starts_now(queue, question.others, sooner_budget);
  for (auto& change : answer.sooner) change = shortened(change, kMostPart);
  return cut;
}

}  // namespace

std::string request_of(const api::GpuJob& job) {
  return plain(cut_to(job.metadata.annotation(api::kExplain), kMostRequest), '?');
}

bool is_asked(const api::GpuJob& job) {
  if (job.metadata.annotations.empty()) return false;
  const auto request = request_of(job);
  return !request.empty() && (!job.status.explanation || job.status.explanation->request != request);
}

bool is_explained_by_queue(const api::GpuJob& job) { return stands_in_line(job); }

api::Explanation explain(const Question& question, Budget& budget) {
  api::Explanation answer;
  answer.request = request_of(question.job);
  answer.time = question.now;
  bool too_long = false;
  if (question.queue != nullptr && !question.queue->granted) too_long = read_queue(question, budget, answer);
  auto text = question.job.metadata.name + " " + shortened(plain(head_of(question), '\''), kMostHead);
  const auto lines = lines_of(answer);
  if (!lines.empty()) text += "\n" + lines;
  if (question.queue != nullptr && !question.queue->granted && question.queue->pool->spec.queue) {
    if (const auto turn = turn_line(question.job); !turn.empty()) text += "\n" + turn;
  }
  if (too_long) text += "\nthe queue is too long to say when the job will likely start";
  answer.text = shortened(text, kMostText);
  return answer;
}

}  // namespace gpupool::planning
