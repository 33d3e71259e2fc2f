#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/core/workload.h"
#include "api/v1alpha1/gpu_job.h"
#include "bench/cluster/connection.h"
#include "runtime/cache/informer.h"
#include "runtime/queue/work_queue.h"

namespace gpupool::bench {

// The least that any controller can do for a one-GPU job under gpupool's protocol: its API writes, in their
// order, with nothing decided, checked, or kept for a crash. Node by node from a list of free ones; who finds
// none waits for the next. Jobs that fail, gangs and restarts are beyond it.
class Floor {
 public:
  // workers: how many jobs are worked on at once, as the operator's --workers.
  Floor(Connection& connection, const std::string& gpu_resource, int workers);
  // Returns once the caches are full; false if they are not within a minute.
  bool start();
  ~Floor();

 private:
  enum class Stage { kNew, kRunning, kDone };
  struct Life {
    Stage stage = Stage::kNew;
    api::GpuJob job = {};  // as the server last answered
    api::Node node = {};
    api::BatchJob child = {};
  };

  void work(const std::stop_token& stop);
  void step(const api::ObjectKey& key, const std::stop_token& stop);
  void begin(Life& life, const std::stop_token& stop);
  void finish(Life& life, const api::Pod& pod, const std::stop_token& stop);
  void remove(const api::GpuJob& job, const std::stop_token& stop);
  bool take_free_node(Life& life, const api::ObjectKey& job);
  void give_free_node(api::Node node);
  void write_status(api::GpuJob& job, const api::GpuJobStatus& status, const std::stop_token& stop);
  void mark(api::Node& node, const api::GpuJob& job, bool taken, const std::stop_token& stop);

  Connection& connection_;
  const std::string gpu_resource_;
  const int workers_;
  runtime::Informer<api::GpuJob> jobs_;
  runtime::Informer<api::Pod> pods_;
  runtime::WorkQueue queue_;
  std::mutex mutex_;  // guards the next three
  std::map<api::ObjectKey, Life> lives_;
  std::vector<api::Node> free_;
  std::deque<api::ObjectKey> waiting_;
  std::vector<std::jthread> running_;  // last: they use the rest
};

}  // namespace gpupool::bench
