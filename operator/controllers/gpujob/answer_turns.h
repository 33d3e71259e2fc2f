// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <string>

#include "api/meta/object_meta.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/pace.h"

namespace gpupool::controllers {

// Limits the answers to people's questions (planning/forecast/explain.h) to one a second in all and one in
// 10 s for each job. Jobs whose turn has not come are told when to try again; namespaces take turns, so one
// that asks about many jobs does not keep others waiting. There is no timer and no memory for jobs that
// nobody asks about. Thread-safe.
class AnswerTurns {
 public:
  explicit AnswerTurns(const base::Clock& clock);

  // Takes the turn of a job that is asked about. Returns zero if it may be answered now; else how long to
  // wait before the next try.
  base::Duration take(const api::ObjectKey& job);
  // Call when the answer is written.
  void answered(const api::ObjectKey& job);
  // Call when nobody asks about the job any more.
  void leave(const api::ObjectKey& job);

 private:
  void forget(const api::ObjectKey& job) GPUPOOL_REQUIRES(mutex_);

  base::Mutex mutex_;
  base::Pace all_;
  base::Pace of_job_;
  std::map<std::string, std::set<std::string>> waiting_ GPUPOOL_GUARDED_BY(mutex_);  // jobs by namespace
};

}  // namespace gpupool::controllers
