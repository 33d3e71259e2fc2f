// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/core/workload.h"
#include "api/v1alpha1/gpu_job.h"
#include "bench/cluster/connection.h"
#include "bench/support/results.h"
#include "runtime/cache/informer.h"

namespace gpupool::bench {

// The times at which each stage of each job of a namespace was first seen by a watch.
class Stopwatch {
 public:
  enum Stage { kSubmitted, kAnswered, kChild, kRunning, kEnded, kDeleted, kFree, kDone, kGone, kStages };

  Stopwatch(Connection& connection, const std::string& ns);
  ~Stopwatch();
  // Returns when its watches have begun. only_jobs: the stages of children, pods and nodes are not seen, and
  // their watches cost the API server nothing.
  void start(bool only_jobs = false);
  void note(const std::string& job, Stage stage);
  // Waits until this number of jobs has reached the stage; false after `limit`, or if a job has failed.
  bool wait_for(Stage stage, std::size_t jobs, std::chrono::seconds limit);
  // Seconds between two stages, for the jobs that have reached both.
  Sample between(Stage from, Stage to);
  // Seconds from the first job's `from` to the last job's `to`.
  double span(Stage from, Stage to);

 private:
  using Times = std::map<std::string, base::SteadyTime>;
  void on_node(const runtime::Change<api::Node>& change);

  Connection& connection_;
  const std::string ns_;
  runtime::Informer<api::GpuJob> jobs_;
  runtime::Informer<api::BatchJob> children_;
  runtime::Informer<api::Pod> pods_;
  runtime::Informer<api::Node> nodes_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  Times times_[kStages];  // by job
  bool failed_ = false;
  std::vector<std::jthread> running_;  // declared last, because they use the other members
};

}  // namespace gpupool::bench
