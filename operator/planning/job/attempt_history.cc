// SPDX-License-Identifier: Apache-2.0
#include "planning/job/attempt_history.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "api/v1alpha1/reasons.h"
#include "planning/job/job_status.h"

namespace gpupool::planning {
namespace {

namespace outcome = api::outcome;
namespace reason = api::reason;
namespace state = api::lease_state;

constexpr std::size_t kMaxNodes = 60;      // bytes of node names in one entry
constexpr std::size_t kBytesAround = 170;  // of an entry as JSON, besides its texts: names and numbers

std::string shortened(std::string text) {
  if (text.size() > kMaxNodes) text = text.substr(0, kMaxNodes - 3) + "...";
  return text;
}

std::size_t bytes_of(const api::AttemptEnd& end) {
  return kBytesAround + end.cause.size() + end.nodes.size() + end.left.size();
}

// The nodes of `before` that the lease does not hold any more.
std::string nodes_left(const api::Lease& before, const api::Lease& after) {
  std::set<std::string> now;
  for (const auto& node : after.nodes) now.insert(node.name);
  std::string text;
  for (const auto& node : before.nodes) {
    if (!now.contains(node.name)) text += (text.empty() ? "" : ",") + node.name;
  }
  return shortened(std::move(text));
}

bool ends_job(const api::Lease& lease) {
  return lease.outcome == outcome::kSucceeded || lease.outcome == outcome::kFailed ||
         lease.outcome == outcome::kDeleted;
}

bool writes_end(const api::GpuJobStatus& before, const api::GpuJobStatus& after) {
  if (!before.lease || !after.lease || before.lease->state == state::kReleasing || ends_job(*after.lease))
    return false;
  return after.lease->state == state::kReleasing || after.lease->id != before.lease->id;
}

void add_end(const Observation& seen, api::GpuJobStatus& after) {
  const auto& before = *seen.job.status.lease;
  if (after.attempts != before.attempt + 1) return;  // no worker of it can have started
  if (!after.progress) after.progress.emplace();
  api::AttemptEnd end;
  end.attempt = before.attempt;
  end.cause = after.reason;
  end.nodes = shortened(summarize_nodes(before.nodes));
  if (after.lease->state != state::kReleasing) end.left = nodes_left(before, *after.lease);
  end.at = seen.now;
  if (after.progress->checkpoint) end.from_step = after.progress->checkpoint->step;
  // Until its workers have told more: all that it did is repeated.
  if (before.state == state::kRunning && before.since) {
    end.repeated_seconds = std::max<std::int64_t>(
        0, std::chrono::duration_cast<std::chrono::seconds>(seen.now - *before.since).count());
  }
  after.progress->history.push_back(std::move(end));
  bound_history(after.progress->history);
}

// A node is left before the next attempt could begin. If it is lost, the crash that came before followed from
// that.
void add_nodes_left(const Observation& seen, api::GpuJobStatus& after) {
  auto* end = end_of(after, after.attempts - 1);
  const auto left = nodes_left(*seen.job.status.lease, *after.lease);
  if (end == nullptr || left.empty() || after.lease->state == state::kReleasing) return;
  if (after.reason == reason::kNodeLost) end->cause = after.reason;
  end->left = shortened(end->left + (end->left.empty() ? "" : ",") + left);
  bound_history(after.progress->history);
}

}  // namespace

api::AttemptEnd* end_of(api::GpuJobStatus& status, std::int64_t attempt) {
  if (!status.progress) return nullptr;
  auto& history = status.progress->history;
  const auto found = std::ranges::find(history, attempt, &api::AttemptEnd::attempt);
  return found == history.end() ? nullptr : &*found;
}

void bound_history(std::vector<api::AttemptEnd>& history) {
  if (history.size() > api::kMaxHistory)
    history.erase(history.begin(), history.end() - static_cast<std::ptrdiff_t>(api::kMaxHistory));
  std::size_t bytes = 0;
  for (const auto& end : history) bytes += bytes_of(end);
  while (history.size() > 1 && bytes > api::kMaxHistoryBytes) {
    bytes -= bytes_of(history.front());
    history.erase(history.begin());
  }
}

Step record_end(const Observation& seen, Step step) {
  auto* write = std::get_if<step::WriteStatus>(&step);
  if (write == nullptr || !writes_end(seen.job.status, write->status)) return step;
  if (seen.job.status.lease->state == state::kRestarting) {
    add_nodes_left(seen, write->status);
  } else {
    add_end(seen, write->status);
  }
  return step;
}

std::string cause_text(const api::AttemptEnd& end) {
  const auto& of = end.left.empty() ? end.nodes : end.left;
  const auto nodes = (of.find(',') == std::string::npos ? "node " : "nodes ") + of;
  if (end.cause == reason::kNodeLost) return nodes + " lost";
  if (end.cause == reason::kNodeCordoned) return nodes + " cordoned";
  if (end.cause == reason::kDraining) return nodes + " drained";
  if (end.cause == reason::kSuspended) return "suspended";
  if (end.cause == reason::kBudgetExhausted) return "stopped, because its account had nothing left";
  if (end.cause == reason::kMoving) return "restart requested";
  const auto attempt = "attempt " + std::to_string(end.attempt);
  if (end.cause == reason::kYielded) return attempt + " yielded";
  if (end.cause == reason::kWorkerLost)
    return attempt + " lost a worker" + (end.left.empty() ? "" : " and left " + end.left);
  if (end.cause == reason::kWorkerFailed) return attempt + " failed";
  return attempt + " ended (" + end.cause + ")";
}

std::string resumes_text(const api::AttemptEnd& end) {
  std::string text;
  if (end.from_step) text = " from step " + std::to_string(*end.from_step);
  if (end.repeated_seconds) text += ", " + std::to_string(*end.repeated_seconds) + " s of work repeated";
  return text;
}

}  // namespace gpupool::planning
