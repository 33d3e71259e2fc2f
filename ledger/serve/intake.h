// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "books/books.h"

namespace gpupool::ledger {

// Where facts go into the books, from whichever feed. What cannot be entered, for example because the disk is
// full, is kept and tried again. Thread-safe.
class Intake {
 public:
  // REQUIRES: everything referenced outlives this.
  Intake(Books& books, base::Metrics& metrics, const base::Log& log);

  // Tries to enter these and what is left. Whether they are in the books is known by stored().
  void enter(std::vector<Fact> facts) GPUPOOL_EXCLUDES(mutex_);
  // Tries to enter what is left. Returns why that fails; empty: nothing is left.
  std::string retry() GPUPOOL_EXCLUDES(mutex_);
  // Nothing is left.
  bool stored() GPUPOOL_EXCLUDES(mutex_);

 private:
  std::string enter_pending() GPUPOOL_REQUIRES(mutex_);

  Books& books_;
  const base::Log& log_;
  base::Counter& entries_;
  base::Counter& failures_;
  base::Mutex mutex_;
  std::vector<Fact> pending_ GPUPOOL_GUARDED_BY(mutex_);
  bool failing_ GPUPOOL_GUARDED_BY(mutex_) = false;
};

}  // namespace gpupool::ledger
