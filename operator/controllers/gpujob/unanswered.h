// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "api/meta/object_meta.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "controllers/queue/ticket.h"

namespace gpupool::controllers {

// Jobs whose last write may have succeeded: the server did not answer, or reported an error of its own. The
// job keeps its ticket until its next reconcile shows the result, but at most kLongest, so that a server that
// fails each write of one job does not keep nodes from other jobs. Used by reconcile threads; thread-safe.
class Unanswered {
 public:
  // The API server works at most this long on one request (--request-timeout).
  static constexpr base::Duration kLongest = std::chrono::seconds(60);

  struct Write {
    std::optional<Ticket> ticket;  // nullopt: the job had not asked the queue
    base::SteadyTime since;        // time of the first of consecutive unanswered writes
  };

  // Returns the write of the job's last reconcile; nothing if it was answered.
  std::optional<Write> take(const api::ObjectKey& job) {
    const base::MutexLock lock(mutex_);
    auto found = writes_.extract(job);
    return found.empty() ? std::nullopt : std::optional(std::move(found.mapped()));
  }
  void keep(const api::ObjectKey& job, Write write) {
    const base::MutexLock lock(mutex_);
    writes_.emplace(job, std::move(write));
  }

 private:
  base::Mutex mutex_;
  std::map<api::ObjectKey, Write> writes_ GPUPOOL_GUARDED_BY(mutex_);
};

}  // namespace gpupool::controllers
