// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "books/books.h"
#include "runtime/watch/reflector.h"

namespace gpupool::ledger {

// Enters what the statuses of GpuJobs say into the books: all of a list at its end, each event at once. What
// cannot be entered, for example because the disk is full, is kept and tried again. Holds no resourceVersion:
// after a start the list brings everything again, and the books know what they have. Thread-safe.
class JobFeed final : public runtime::ReflectorSink {
 public:
  // REQUIRES: everything referenced outlives this.
  JobFeed(Books& books, base::Metrics& metrics, const base::Log& log);

  base::Result<void> item(std::string_view text) override;
  void commit() override;
  void abandon() override;
  base::Result<std::string> event(std::string_view type, std::string_view line) override;

  // Tries to enter what is left. Returns why that fails; empty: nothing is left.
  std::string retry();

 private:
  std::string enter() GPUPOOL_REQUIRES(mutex_);

  Books& books_;
  const base::Log& log_;
  base::Counter& entries_;
  base::Counter& failures_;
  base::Mutex mutex_;
  std::vector<Fact> listed_ GPUPOOL_GUARDED_BY(mutex_);
  std::vector<Fact> pending_ GPUPOOL_GUARDED_BY(mutex_);
  bool failing_ GPUPOOL_GUARDED_BY(mutex_) = false;
};

}  // namespace gpupool::ledger
