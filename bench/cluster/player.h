// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/v1alpha1/gpu_job.h"
#include "bench/cluster/connection.h"
#include "runtime/cache/informer.h"
#include "runtime/queue/work_queue.h"

namespace gpupool::bench {

// Plays the scheduler and the kubelets of all nodes: binds each pod to a node of its lease, reports it
// running, then ended after a while or when it is deleted, with the writes that they would make. Restarts
// workers of a StatefulSet after their end, as kubelets do; the result of the first run stays visible. Jobs
// and StatefulSets are handled by the real controller manager.
class Player {
 public:
  // run_for: the duration of a worker's command, unless its pod has the annotation "bench/run-ms"; nullopt:
  // until its pod is deleted. shared: leases write nothing on nodes, so the job tells where its worker runs.
  Player(Connection& connection, std::optional<base::Duration> run_for, int threads, bool shared);
  // Starts; the destructor stops.
  void start();
  ~Player();

 private:
  void work(const std::stop_token& stop);
  void step(const api::Pod& pod, const std::stop_token& stop);
  void bind(const api::Pod& pod, const std::stop_token& stop);
  void run(const api::Pod& pod, const std::stop_token& stop);
  void finish(const api::Pod& pod, const std::stop_token& stop);
  void end(const api::Pod& pod, const std::stop_token& stop);
  // Repeats the write later if it fails.
  bool write_status(const api::Pod& pod, const std::string& status, const std::stop_token& stop);
  std::string node_for(const api::Pod& pod);
  std::optional<base::Duration> time_of(const api::Pod& pod) const;

  Connection& connection_;
  const std::optional<base::Duration> run_for_;
  const int threads_;
  const bool shared_;
  runtime::Informer<api::Node> nodes_;
  runtime::Informer<api::Pod> pods_;
  runtime::Informer<api::GpuJob> jobs_;  // only if shared
  runtime::WorkQueue queue_;
  std::atomic<std::size_t> next_ = 0;              // node of a plain Job's pod
  std::mutex mutex_;                               // guards the next two
  std::map<std::string, base::SteadyTime> began_;  // by UID
  std::map<std::string, base::SteadyTime> ended_;  // by UID: time of the last report to the API server
  std::vector<std::jthread> running_;              // declared last, because they use the other members
};

}  // namespace gpupool::bench
