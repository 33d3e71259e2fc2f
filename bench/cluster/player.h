#pragma once

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

// The scheduler for workers, and the kubelets of all nodes: it binds each pod to the node of its lease,
// reports it running, ended after a while, and ended when it is deleted, with the writes that they would
// make. Workers of a StatefulSet are started again at their end, as kubelets do, with the result of their
// first run in sight. Jobs and StatefulSets are the controller manager's.
class Player {
 public:
  // run_for: how long a worker's command takes, unless its pod has the annotation "bench/run-ms"; nothing:
  // until its pod is deleted. shared: leases write nothing on nodes, so the job says where its worker runs.
  Player(Connection& connection, std::optional<base::Duration> run_for, int threads, bool shared);
  // Begins to play; the destructor ends it.
  void start();
  ~Player();

 private:
  void work(const std::stop_token& stop);
  void step(const api::Pod& pod, const std::stop_token& stop);
  void bind(const api::Pod& pod, const std::stop_token& stop);
  void run(const api::Pod& pod, const std::stop_token& stop);
  void finish(const api::Pod& pod, const std::stop_token& stop);
  void end(const api::Pod& pod, const std::stop_token& stop);
  // Again in a moment if the write did not come through.
  bool write_status(const api::Pod& pod, const std::string& status, const std::stop_token& stop);
  std::string node_for(const api::Pod& pod) const;
  std::optional<base::Duration> time_of(const api::Pod& pod) const;

  Connection& connection_;
  const std::optional<base::Duration> run_for_;
  const int threads_;
  const bool shared_;
  runtime::Informer<api::Node> nodes_;
  runtime::Informer<api::Pod> pods_;
  runtime::Informer<api::GpuJob> jobs_;  // only if shared
  runtime::WorkQueue queue_;
  std::mutex mutex_;                               // guards the next two
  std::map<std::string, base::SteadyTime> began_;  // by UID
  std::map<std::string, base::SteadyTime> ended_;  // by UID, when the API server was told last
  std::vector<std::jthread> running_;              // last: they use the rest
};

}  // namespace gpupool::bench
