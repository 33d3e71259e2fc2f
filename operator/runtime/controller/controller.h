#pragma once

#include <cstdint>
#include <mutex>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "runtime/controller/controller_metrics.h"
#include "runtime/controller/reconciler.h"
#include "runtime/manager/runnable.h"
#include "runtime/queue/work_queue.h"

namespace gpupool::runtime {

struct ControllerOptions {
  std::string name;  // "gpujob"
  std::string kind;  // "GpuJob"
  int workers = 2;
  base::Duration max_backoff = std::chrono::seconds(30);
};

// A queue of keys and the workers that reconcile them. Exceptions from a reconciler are counted as panics and
// retried, never fatal. Cancelled errors during a stop are not logged. Conflict errors are retried like
// others but logged at debug level only. Metrics and log keys are controller-runtime's.
class Controller final : public Runnable {
 public:
  Controller(ControllerOptions options, Reconciler& reconciler, base::Clock& clock, base::Metrics& metrics,
             const base::Log& log);

  WorkQueue& queue() { return queue_; }
  std::string name() const override { return options_.name; }
  // Starts the workers, returns when stop is requested and all have finished their key.
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
  std::mutex mutex_;
  int active_ = 0;
  std::uint64_t reconciles_ = 0;
  std::string id_prefix_;
};

}  // namespace gpupool::runtime
