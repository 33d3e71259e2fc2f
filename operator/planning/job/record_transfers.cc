// SPDX-License-Identifier: Apache-2.0
#include "planning/job/record_transfers.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/v1alpha1/job_data.h"
#include "api/v1alpha1/names.h"
#include "planning/workers/assess_workers.h"
#include "planning/workers/pod_end.h"
#include "planning/workers/transfers.h"

namespace gpupool::planning {
namespace {

namespace state = api::lease_state;
using api::TransferredItem;

constexpr std::size_t kMaxItems = 32;
constexpr std::size_t kMaxText = 512;

// Data of another program: bounded, and without what a terminal would act on.
void bound(std::string& text) {
  if (text.size() > kMaxText) text.resize(kMaxText);
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < ' '; }, ' ');
}

void bound(TransferredItem& item) {
  for (auto* text : {&item.path, &item.to, &item.state, &item.digest, &item.message}) bound(*text);
}

// The pods of the attempt that the status still shows, by rank.
std::vector<const api::Pod*> pods_of_attempt(const Observation& seen) {
  std::vector<const api::Pod*> pods;
  for (const auto& pod : seen.pods) {
    if (pod->metadata.label(api::kLease) == seen.job.status.lease->id) pods.push_back(pod.get());
  }
  std::ranges::sort(pods, {}, [](const api::Pod* pod) { return rank_of(*pod); });
  return pods;
}

void record_source(const Observation& seen, api::GpuJobStatus& status) {
  api::JobSourceStatus source;
  source.attempt = seen.job.status.lease->attempt;
  bool any = false;
  for (const auto* pod : pods_of_attempt(seen)) {
    auto report = source_report(*pod);
    if (!report || report->reason == api::kTransferStopped) continue;
    const bool failed = !report->reason.empty();
    source.seconds = std::max(source.seconds, (report->milliseconds + 999) / 1000);
    if (failed) source.state = api::source_state::kFailed;
    if (std::exchange(any, true) && !failed) continue;
    if (source.state.empty()) source.state = api::source_state::kFetched;
    source.bytes = report->bytes;
    source.items = std::move(report->items);
  }
  if (!any) return;
  if (source.items.size() > kMaxItems) source.items.resize(kMaxItems);
  for (auto& item : source.items) bound(item);
  status.source = std::move(source);
}

// One entry of spec.results, of all ranks that the entry names.
TransferredItem sum_of(const api::JobResult& wanted, std::size_t index,
                       const std::vector<std::pair<std::int64_t, api::TransferReport>>& reports) {
  TransferredItem sum;
  sum.path = wanted.from;
  sum.state = api::transfer_state::kComplete;
  const auto ranks = wanted.ranks.empty() ? std::vector<std::int64_t>{0} : wanted.ranks;
  bool skipped = true;
  for (const auto rank : ranks) {
    const auto told = std::ranges::find(reports, rank, &std::pair<std::int64_t, api::TransferReport>::first);
    const bool missing = told == reports.end() || index >= told->second.items.size();
    if (!missing && told->second.items[index].state == api::transfer_state::kSkipped) continue;
    skipped = false;
    if (missing || told->second.items[index].state != api::transfer_state::kComplete) {
      sum.state = api::transfer_state::kIncomplete;
      if (sum.message.empty()) {
        sum.message =
            "rank " + std::to_string(rank) + ": " +
            (missing ? "was ended before it could say what it saved" : told->second.items[index].message);
      }
    }
    if (missing) continue;
    sum.files += told->second.items[index].files;
    sum.bytes += told->second.items[index].bytes;
    if (sum.to.empty()) sum.to = told->second.items[index].to;
  }
  if (skipped) sum.state = api::transfer_state::kSkipped;
  bound(sum);
  return sum;
}

void record_results(const Observation& seen, api::GpuJobStatus& status) {
  const auto wanted = base::json::read<std::vector<api::JobResult>>(seen.job.spec.results->text);
  if (!wanted) return;
  std::vector<std::pair<std::int64_t, api::TransferReport>> reports;
  for (const auto* pod : pods_of_attempt(seen)) {
    if (auto report = results_report(*pod)) reports.emplace_back(rank_of(*pod), *std::move(report));
  }
  api::JobResultsStatus results;
  results.attempt = seen.job.status.lease->attempt;
  results.state = api::transfer_state::kComplete;
  for (std::size_t i = 0; i < wanted->size(); ++i) {
    results.items.push_back(sum_of((*wanted)[i], i, reports));
    if (results.items.back().state == api::transfer_state::kIncomplete)
      results.state = api::transfer_state::kIncomplete;
  }
  status.results = std::move(results);
}

bool ends_attempt(const api::Lease& before, const api::Lease& after) {
  return before.state != state::kReleasing && (after.state == state::kReleasing || after.id != before.id);
}

// True if a worker of the attempt has run, so that there can be results.
bool has_run(const Observation& seen) {
  return seen.job.status.phase == api::phase::kRunning ||
         std::ranges::any_of(pods_of_attempt(seen), [](const api::Pod* pod) {
           return std::ranges::any_of(pod->status.container_statuses, has_begun);
         });
}

}  // namespace

Step record_transfers(const Observation& seen, Step step) {
  const auto& spec = seen.job.spec;
  const auto& lease = seen.job.status.lease;
  if ((!spec.source && !spec.results) || !lease) return step;
  if (auto* freed = std::get_if<step::FreeNodes>(&step)) {
    const bool is_end = lease->state == state::kReleasing && !freed->then.status.lease;
    if (spec.results && seen.job.status.results && is_end &&
        seen.job.status.results->attempt == lease->attempt &&
        seen.job.status.results->state == api::transfer_state::kIncomplete)
      record_results(seen, freed->then.status);
    return step;
  }
  auto* write = std::get_if<step::WriteStatus>(&step);
  if (write == nullptr || !write->status.lease) return step;
  auto& status = write->status;
  const bool ends = ends_attempt(*lease, *status.lease);
  const bool runs = status.phase == api::phase::kRunning;
  const bool known = status.source && status.source->attempt == lease->attempt;
  if (spec.source && (ends || (runs && !known))) record_source(seen, status);
  if (!spec.results || !ends || !has_run(seen)) return step;
  record_results(seen, status);
  if (status.lease->outcome == api::outcome::kSucceeded && status.results &&
      status.results->state == api::transfer_state::kIncomplete) {
    const auto bad = std::ranges::find(status.results->items, std::string(api::transfer_state::kIncomplete),
                                       &TransferredItem::state);
    status.message += "; its results are incomplete: " + bad->path + ": " + bad->message;
  }
  return step;
}

}  // namespace gpupool::planning
