// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <unordered_map>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/problem.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"

namespace gpupool::controllers {

// What the API server says to a worker of a template in a namespace (dry run), for as long as it is fresh: 60
// s if it accepts the worker, 5 s if it refuses. Jobs with the same template share an answer, so thousands of
// them cost one request. Thread-safe.
class FirstAnswers {
 public:
  using Answer = std::optional<api::Problem>;
  using Ask = std::function<base::Result<Answer>()>;

  explicit FirstAnswers(const base::Clock& clock) : clock_(clock) {}

  // Returns the fresh answer, or asks for it. nullopt: another thread is asking now. An error is not kept.
  std::optional<base::Result<Answer>> get(const api::GpuJob& job, const Ask& ask);
  // Returns the fresh answer if it is a refusal.
  Answer refusal(const api::GpuJob& job) const;
  // The server has refused a worker of this job later than the last answer.
  void refused(const api::GpuJob& job, const api::Problem& problem);

 private:
  struct Entry {
    bool asking = false;
    Answer answer;
    base::SteadyTime until{};
  };
  void keep(std::size_t key, const Answer& answer);

  const base::Clock& clock_;
  mutable base::Mutex mutex_;
  std::unordered_map<std::size_t, Entry> entries_ GPUPOOL_GUARDED_BY(mutex_);  // by hash of what decides
};

}  // namespace gpupool::controllers
