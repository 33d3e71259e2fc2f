// SPDX-License-Identifier: Apache-2.0
#include "worker_logs/attempts.h"

#include <algorithm>
#include <set>

namespace gpupool::logs {
namespace {

bool is_older(const WorkerPod& a, const WorkerPod& b) {
  return a.metadata.creation_timestamp < b.metadata.creation_timestamp;
}

}  // namespace

bool Attempt::has_begun() const {
  return std::ranges::any_of(ranks,
                             [](const auto& rank) { return rank.second.state.output != Output::kNotBegun; });
}

std::vector<std::int64_t> Attempt::failed_ranks() const {
  std::vector<std::int64_t> failed;
  for (const auto& [rank, worker] : ranks) {
    if (worker.state.failed) failed.push_back(rank);
  }
  return failed;
}

std::string Attempt::node_names() const {
  std::set<std::string> names;
  for (const auto& [rank, worker] : ranks) names.insert(worker.pod->spec.node_name);
  names.erase("");
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : " ") + name;
  return text;
}

std::map<std::int64_t, Attempt> attempts_of(const Picture& picture) {
  const std::string container = worker_container(picture.job);
  std::map<std::int64_t, Attempt> attempts;
  for (const auto& pod : picture.pods) {
    const auto place = place_of(*pod, picture.job, container);
    if (!place) continue;
    Attempt& attempt = attempts[place->lease];
    attempt.number = place->attempt;
    Worker& worker = attempt.ranks[place->rank];
    if (worker.pod && !is_older(*pod, *worker.pod)) continue;
    worker = {pod, state_of(*pod, container)};
  }
  return attempts;
}

std::vector<std::int64_t> wanted_leases(const std::map<std::int64_t, Attempt>& attempts, const Wanted& wanted,
                                        std::optional<std::int64_t> first) {
  std::vector<std::int64_t> leases;
  for (const auto& [lease, attempt] : attempts) {
    if (wanted.attempt && attempt.number != *wanted.attempt) continue;
    leases.push_back(lease);
  }
  if (wanted.attempt || wanted.all_attempts || leases.empty()) return leases;
  if (!first) {
    // The newest one that has something to show.
    first = leases.back();
    for (const auto lease : leases) {
      if (attempts.at(lease).has_begun()) first = lease;
    }
  }
  std::erase_if(leases, [&](std::int64_t lease) { return lease < *first; });
  return leases;
}

RankChoice wanted_ranks(const Attempt& attempt, const Wanted& wanted) {
  if (wanted.ranks.empty()) return usual_ranks(attempt.failed_ranks(), wanted.max_streams);
  return limited(wanted.ranks, wanted.max_streams);
}

}  // namespace gpupool::logs
