// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "runtime/controller/controller_metrics.h"
#include "runtime/controller/reconciler.h"
#include "runtime/manager/runnable.h"
#include "runtime/queue/work_queue.h"

namespace gpupool::runtime {

struct ControllerOptions {
  std::string name;  // for metrics and logs, for example "gpujob"
  std::string kind;  // for logs, for example "GpuJob"
  int threads = 2;   // at least 1
  base::Duration max_backoff = std::chrono::seconds(30);
};

// A work queue and the reconcile threads that serve it. An exception of a reconciler is counted as a panic
// and retried like an error. Errors by cancellation during a stop are not logged; conflicts are logged at
// level debug. Metrics and log keys are those of controller-runtime. queue() is thread-safe; handlers of
// cache changes add keys to it. The manager calls run() on a thread of its own.
// REQUIRES: everything referenced outlives the controller.
class Controller final : public Runnable {
 public:
  Controller(ControllerOptions options, Reconciler& reconciler, base::Clock& clock, base::Metrics& metrics,
             const base::Log& log);

  WorkQueue& queue() { return queue_; }
  std::string name() const override { return options_.name; }
  // Reconciles on the caller's thread and on `threads` - 1 others. Returns after a stop request, when each
  // has finished its key.
  void run(std::stop_token stop) override;

 private:
  struct Outcome {
    base::Result<Requeue> result;
    bool panicked = false;
  };

  void work(const std::stop_token& stop);
  void reconcile_one(const api::ObjectKey& key, const std::stop_token& stop);
  Outcome call(const api::ObjectKey& key, const base::Log& log, const std::stop_token& stop);
  void retry(const api::ObjectKey& key, const Outcome& outcome, const base::Log& log,
             const std::stop_token& stop);
  void count_active(int change);
  std::string next_reconcile_id();

  ControllerOptions options_;
  Reconciler& reconciler_;
  base::Clock& clock_;
  ControllerMetrics metrics_;
  base::Log log_;
  WorkQueue queue_;
  base::Mutex mutex_;
  int active_ GPUPOOL_GUARDED_BY(mutex_) = 0;
  std::uint64_t reconciles_ GPUPOOL_GUARDED_BY(mutex_) = 0;
  const std::string id_prefix_;
};

}  // namespace gpupool::runtime
