// SPDX-License-Identifier: Apache-2.0
#include "controllers/cluster/first_answers.h"

#include <chrono>
#include <string>

namespace gpupool::controllers {
namespace {

constexpr auto kAcceptedFor = std::chrono::seconds(60);
constexpr auto kRefusedFor = std::chrono::seconds(5);
constexpr std::size_t kMostAnswers = 1000;  // then those that are not fresh are dropped

// Everything of a job that a worker pod contains, besides names.
std::size_t hash_of_worker(const api::GpuJob& job) {
  const auto& spec = job.spec;
  auto text = job.metadata.ns + '\n' + spec.pool + '\n' + std::to_string(api::gpus_of_each_worker(spec)) +
              '\n' + std::to_string(api::worker_count(spec)) + '\n';
  if (spec.slice) {
    text += spec.slice->memory + '\n' + std::to_string(spec.slice->cores.value_or(0)) + '\n' +
            std::to_string(spec.slice->count.value_or(0)) + '\n';
  }
  if (spec.source) text += "source" + spec.source->text;
  if (spec.results) text += "results" + spec.results->text;
  return std::hash<std::string>()(text + spec.pod_template.text);
}

}  // namespace

void FirstAnswers::keep(std::size_t key, const Answer& answer) {
  const base::MutexLock lock(mutex_);
  const auto now = clock_.now();
  if (entries_.size() >= kMostAnswers)
    std::erase_if(entries_,
                  [&](const auto& entry) { return !entry.second.asking && entry.second.until < now; });
  entries_[key] = {false, answer, now + (answer ? kRefusedFor : kAcceptedFor)};
}

std::optional<base::Result<FirstAnswers::Answer>> FirstAnswers::get(const api::GpuJob& job, const Ask& ask) {
  const auto key = hash_of_worker(job);
  {
    const base::MutexLock lock(mutex_);
    auto& entry = entries_[key];
    if (entry.asking) return std::nullopt;
    if (clock_.now() < entry.until) return base::Result<Answer>(entry.answer);
    entry.asking = true;
  }
  auto answer = ask();
  if (answer) {
    keep(key, *answer);
  } else {
    const base::MutexLock lock(mutex_);
    entries_.erase(key);
  }
  return answer;
}

FirstAnswers::Answer FirstAnswers::refusal(const api::GpuJob& job) const {
  const base::MutexLock lock(mutex_);
  const auto found = entries_.find(hash_of_worker(job));
  const bool fresh = found != entries_.end() && clock_.now() < found->second.until;
  return fresh ? found->second.answer : std::nullopt;
}

void FirstAnswers::refused(const api::GpuJob& job, const api::Problem& problem) {
  keep(hash_of_worker(job), problem);
}

}  // namespace gpupool::controllers
