// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "base/log.h"
#include "base/metrics.h"
#include "kube/client.h"
#include "runtime/cache/informer.h"
#include "worker_logs/attempts.h"

namespace gpupool::logs {

// What the server knows of the job and its pods now. kNotFound if there is no such job.
base::Result<Picture> take_picture(kube::Client& client, const api::ObjectKey& job,
                                   const std::stop_token& stop);

// Watches one job and its pods, on two threads, until it is destroyed. While the server is away it goes on
// trying.
class JobWatch {
 public:
  // on_change: called on the threads of the watches with each new picture, one call at a time. Pods come from
  // the watch alone, because its first list may be older than another list: a pod that is missing in a
  // picture, and was in one before, is gone. REQUIRES: everything referenced outlives the watch.
  JobWatch(kube::Client& client, base::Clock& clock, api::GpuJob job, std::function<void(Picture)> on_change);

 private:
  void look_at_job();
  void look_at_pods();

  base::Metrics metrics_;
  base::Log log_ = base::Log::none();
  base::Mutex mutex_;
  Picture picture_ GPUPOOL_GUARDED_BY(mutex_);
  std::function<void(Picture)> on_change_;
  runtime::Informer<api::GpuJob> jobs_;
  runtime::Informer<WorkerPod> pods_;
  std::jthread job_thread_;  // last: they use the others
  std::jthread pod_thread_;
};

}  // namespace gpupool::logs
