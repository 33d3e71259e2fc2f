// SPDX-License-Identifier: Apache-2.0
#include "controllers/sweep/live_metrics.h"

#include <algorithm>
#include <utility>

#include "planning/sweep/live_values.h"
#include "planning/sweep/trial_job.h"
#include "planning/workers/assess_workers.h"

namespace gpupool::controllers {

// The one field of a pod that the caches leave out: only these workers need it.
struct PodAddressStatus {
  std::string pod_ip;
};
struct PodAddress {
  static constexpr api::ResourceType kType = api::Pod::kType;
  api::ObjectMeta metadata;
  PodAddressStatus status;
};

}  // namespace gpupool::controllers

namespace gpupool::base::json {

template <>
struct Schema<controllers::PodAddressStatus> {
  using T = controllers::PodAddressStatus;
  static constexpr auto fields = std::array{field<&T::pod_ip>("podIP")};
};
template <>
struct Schema<controllers::PodAddress> {
  using T = controllers::PodAddress;
  static constexpr auto fields = std::array{field<&T::metadata>("metadata"), field<&T::status>("status")};
};

}  // namespace gpupool::base::json

namespace gpupool::controllers {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kAnswerTime = milliseconds(500);  // for all workers of a sweep
// At most so many questions a second: each costs both sides a connection.
constexpr std::int64_t kMostASecond = 200;
constexpr auto kLeastInterval = seconds(1);
constexpr base::Duration kWhileNoneRuns = seconds(2);
constexpr base::Duration kWhileNoneAnswers = seconds(10);
// For so long a silence may be that of programs that begin.
constexpr auto kSilence = seconds(60);

base::Duration interval_of(std::size_t workers) {
  return std::max<base::Duration>(kLeastInterval, seconds(static_cast<std::int64_t>(workers) / kMostASecond));
}

}  // namespace

LiveMetrics::LiveMetrics(kube::Client& client, const Caches& caches, AskWorkers ask, const base::Clock& clock)
    : client_(client), caches_(caches), ask_(std::move(ask)), clock_(clock) {}

std::optional<base::Duration> LiveMetrics::ask(const api::GpuSweep& sweep, const Jobs& jobs,
                                               std::stop_token stop) {
  auto& known = sweeps_[sweep.metadata.key()];
  if (known.uid != sweep.metadata.uid) known = Known{.uid = sweep.metadata.uid};
  if (const auto left = known.next - clock_.now(); left > base::Duration::zero()) return left;
  const auto workers = running_workers(sweep, jobs);
  if (workers.empty()) {
    known.silent_since.reset();
    known.trouble.clear();
    const auto unfinished = [](const auto& job) { return !job->finished(); };
    return std::ranges::any_of(jobs, unfinished) ? std::optional(kWhileNoneRuns) : std::nullopt;
  }
  find_addresses(known, workers, stop);
  ask_workers(known, sweep, workers, stop);
  const auto interval = known.trouble.empty() ? interval_of(workers.size()) : kWhileNoneAnswers;
  known.next = clock_.now() + interval;
  return interval;
}

std::vector<LiveMetrics::Worker> LiveMetrics::running_workers(const api::GpuSweep& sweep,
                                                              const Jobs& jobs) const {
  std::vector<Worker> workers;
  for (const auto& job : jobs) {
    const auto trial = planning::trial_of(*job, sweep);
    if (!trial || job->finished() || !job->status.lease || job->metadata.deleting()) continue;
    for (const auto& pod : caches_.workers_of(*job)) {
      if (pod->status.phase == "Running" && !pod->metadata.deleting() && planning::rank_of(*pod) == 0)
        workers.push_back({*trial, job->metadata.uid, pod});
    }
  }
  return workers;
}

void LiveMetrics::find_addresses(Known& known, const std::vector<Worker>& workers,
                                 const std::stop_token& stop) {
  std::map<std::string, std::string> addresses;
  for (const auto& worker : workers) {
    const auto& pod = worker.pod->metadata;
    if (const auto found = known.addresses.find(pod.uid); found != known.addresses.end()) {
      addresses.insert(*found);
      continue;
    }
    const auto read = kube::get<PodAddress>(client_, pod.key(), stop);
    if (read && read->metadata.uid == pod.uid && !read->status.pod_ip.empty())
      addresses[pod.uid] = read->status.pod_ip;
  }
  known.addresses = std::move(addresses);
}

void LiveMetrics::ask_workers(Known& known, const api::GpuSweep& sweep, const std::vector<Worker>& workers,
                              const std::stop_token& stop) {
  std::vector<WorkerQuestion> questions;
  std::vector<std::int64_t> trials;
  for (const auto& worker : workers) {
    const auto address = known.addresses.find(worker.pod->metadata.uid);
    if (address == known.addresses.end()) continue;
    questions.push_back({address->second, worker.job_uid + "\n"});
    trials.push_back(worker.trial);
  }
  if (questions.empty()) return;
  const auto answers = ask_(questions, kAnswerTime, stop);
  std::string trouble;
  bool answered = false;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto values =
        answers[i] ? planning::parse_live_values(*answers[i], *sweep.spec.objective) : std::nullopt;
    if (values) {
      answered = true;
      planning::add_values(known.values[trials[i]], *values);
    } else {
      trouble =
          answers[i] ? questions[i].address + " answers nothing of a launcher" : answers[i].error().message;
    }
  }
  if (answered) {
    known.silent_since.reset();
    known.trouble.clear();
    return;
  }
  if (!known.silent_since) known.silent_since = clock_.now();
  // The first trouble stays, so that the status is not written again and again.
  if (known.trouble.empty() && clock_.now() - *known.silent_since >= kSilence) known.trouble = trouble;
}

std::map<std::int64_t, planning::RungValues> LiveMetrics::values(const api::GpuSweep& sweep) const {
  const auto found = sweeps_.find(sweep.metadata.key());
  if (found == sweeps_.end() || found->second.uid != sweep.metadata.uid) return {};
  return found->second.values;
}

std::string LiveMetrics::trouble(const api::GpuSweep& sweep) const {
  const auto found = sweeps_.find(sweep.metadata.key());
  return found == sweeps_.end() || found->second.uid != sweep.metadata.uid ? std::string()
                                                                           : found->second.trouble;
}

}  // namespace gpupool::controllers
