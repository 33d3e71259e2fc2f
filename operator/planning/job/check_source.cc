// SPDX-License-Identifier: Apache-2.0
#include "planning/job/check_source.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/job/attempt_end.h"
#include "planning/job/lease_changes.h"
#include "planning/workers/assess_workers.h"
#include "planning/workers/transfers.h"

namespace gpupool::planning {
namespace {

namespace reason = api::reason;

constexpr std::size_t kMaxText = 512;  // gpupool-carry keeps to less

bool ends_job(std::string_view why) {
  constexpr std::array<std::string_view, 5> kFinal = {reason::kSourceDenied, reason::kSourceNotFound,
                                                      reason::kSourceMismatch, reason::kSourceTooLarge,
                                                      reason::kSourceInvalid};
  return std::ranges::find(kFinal, why) != kFinal.end();
}

std::string at_rank(const api::Pod& pod, const std::string& text) {
  return "rank " + std::to_string(rank_of(pod)) + ": source: " + text.substr(0, kMaxText);
}

std::optional<Step> check_failure(const Observation& seen, const api::Pod& pod) {
  const auto failure = failure_of_source(pod);
  if (!failure || failure->reason == api::kTransferStopped) return std::nullopt;
  const auto text = at_rank(pod, failure->message);
  if (ends_job(failure->reason)) return release(seen, api::outcome::kFailed, {failure->reason, text}, true);
  return fail_attempt(seen, seen.job.status, {reason::kSourceUnavailable, text});
}

// The path of an item of which two workers have different bytes; empty if there is none.
std::string difference(const api::TransferReport& one, const api::TransferReport& other) {
  for (const auto& item : one.items) {
    const auto same = std::ranges::find(other.items, item.path, &api::TransferredItem::path);
    if (same != other.items.end() && same->digest != item.digest) return item.path;
  }
  return {};
}

}  // namespace

std::optional<Step> check_source(const Observation& seen) {
  std::optional<api::TransferReport> known;
  std::int64_t known_rank = 0;
  for (const auto& pod : seen.pods) {
    if (pod->metadata.label(api::kLease) != seen.job.status.lease->id || pod->metadata.deleting()) continue;
    if (auto failed = check_failure(seen, *pod)) return failed;
    auto report = source_report(*pod);
    if (!report) continue;
    if (!known) {
      known = std::move(report);
      known_rank = rank_of(*pod);
      continue;
    }
    const auto path = difference(*known, *report);
    if (path.empty()) continue;
    return fail_attempt(seen, seen.job.status,
                        {reason::kSourceMismatch,
                         at_rank(*pod, path + " has other bytes than on rank " + std::to_string(known_rank) +
                                           ": it changed while it was fetched")});
  }
  return std::nullopt;
}

}  // namespace gpupool::planning
