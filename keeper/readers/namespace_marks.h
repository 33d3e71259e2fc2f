// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <set>
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/mutex.h"
#include "kube/client.h"
#include "reader_server/reader_access.h"
#include "store/attempts.h"

namespace gpupool::keeper {

// Whether an attempt began in the namespace that now has its name, and not in one that was deleted: by the
// UID that the keeper saw when the attempt began. If the API server did not answer then: by the times; the
// namespace must have been made before the attempt began. Pure.
bool began_in(const readers::NamespaceInfo& ns, const AttemptInfo& attempt);

// Notes the UIDs of namespaces in which attempts begin, on a thread of its own, and tries again while the API
// server does not answer. Thread-safe.
class NamespaceMarks {
 public:
  // REQUIRES: everything referenced outlives this.
  NamespaceMarks(kube::Client& own, Attempts& attempts, base::Clock& clock, const base::Log& log);

  // Does not block.
  void mark(const AttemptId& id);

 private:
  void run(const std::stop_token& stop);

  kube::Client& own_;
  Attempts& attempts_;
  base::Clock& clock_;
  const base::Log log_;
  base::Mutex mutex_;
  std::condition_variable_any changed_;
  std::set<AttemptId> waiting_ GPUPOOL_GUARDED_BY(mutex_);
  std::jthread thread_;  // last: it uses the others
};

}  // namespace gpupool::keeper
