// SPDX-License-Identifier: Apache-2.0
#include "controllers/gpujob/answer_turns.h"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace gpupool::controllers {
namespace {

constexpr auto kAnswerInterval = std::chrono::seconds(1);
constexpr auto kAnswerIntervalOfJob = std::chrono::seconds(10);

}  // namespace

AnswerTurns::AnswerTurns(const base::Clock& clock)
    : all_(kAnswerInterval, clock), of_job_(kAnswerIntervalOfJob, clock) {}

base::Duration AnswerTurns::take(const api::ObjectKey& job) {
  const base::MutexLock lock(mutex_);
  if (const auto left = of_job_.until_next(job.to_string()); left > base::Duration::zero()) {
    forget(job);
    return left;
  }
  const auto left = all_.until_next("");
  if (left == base::Duration::zero()) {
    all_.done("");
    forget(job);
    return left;
  }
  auto& own = waiting_[job.ns];
  const auto place = own.insert(job.name).first;
  const auto before = std::distance(own.begin(), place) * static_cast<std::ptrdiff_t>(waiting_.size());
  return left + base::Duration(kAnswerInterval) * before;
}

void AnswerTurns::answered(const api::ObjectKey& job) { of_job_.done(job.to_string()); }

void AnswerTurns::leave(const api::ObjectKey& job) {
  const base::MutexLock lock(mutex_);
  if (!waiting_.empty()) forget(job);
}

void AnswerTurns::forget(const api::ObjectKey& job) {
  const auto own = waiting_.find(job.ns);
  if (own == waiting_.end()) return;
  own->second.erase(job.name);
  if (own->second.empty()) waiting_.erase(own);
}

}  // namespace gpupool::controllers
